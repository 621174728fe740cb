import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation, describeValue } from '../api/describe.ts';
import { nullableOptional, OptionalText, Username } from '../api/schemas.ts';

/** Members that released clients do not send. A server, or an app with an access token, can send them. */
const optionalMembers = {
  expectedProductId: nullableOptional(v.pipe(v.string(), v.maxLength(256))),
  applicationUsername: nullableOptional(Username),
  accessToken: nullableOptional(v.pipe(v.string(), v.maxLength(5_000))),
};

/** Three parts in base64url. The service verifies the signature. */
const Jws = v.pipe(
  v.string(),
  v.maxLength(16_000),
  v.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'a signed transaction of StoreKit 2'),
);

/** A transaction of the App Store. */
const AppleVerification = v.object({ store: v.literal('apple'), jws: Jws, ...optionalMembers });

/** A purchase of Google Play. */
const GoogleVerification = v.object({
  store: v.literal('google'),
  purchaseToken: v.pipe(v.string(), v.minLength(1), v.maxLength(2_000)),
  ...optionalMembers,
});

export const VerifyPurchaseBody = v.variant('store', [AppleVerification, GoogleVerification]);
export type VerifyPurchaseBody = v.InferOutput<typeof VerifyPurchaseBody>;

/** States of OpenIAP. */
export const OpenIapState = v.picklist([
  'ENTITLED',
  'PENDING_ACKNOWLEDGMENT',
  'READY_TO_CONSUME',
  'CONSUMED',
  'PENDING',
  'CANCELED',
  'EXPIRED',
  'UNKNOWN',
  'INAUTHENTIC',
]);
export type OpenIapState = v.InferOutput<typeof OpenIapState>;

/** Clients reject a response with another `store` than the request, or with another `environment`. */
export const PurchaseVerification = v.strictObject({
  store: v.picklist(['apple', 'google']),
  isValid: v.boolean(),
  state: OpenIapState,
  productId: OptionalText,
  environment: v.exactOptional(v.picklist(['Sandbox', 'Production'])),
});
export type PurchaseVerification = v.InferOutput<typeof PurchaseVerification>;

// Spec: not shown. The endpoint of OpenIAP clients.
export const verifyPurchase = defineContract({
  id: 'verify-purchase',
  area: 'validation',
  summary: 'Verify a purchase for an OpenIAP client',
  method: 'POST',
  path: '/v1/purchase/verify',
  aliases: [],
  keyLevel: 'public',
  acceptsBareKey: true,
  errorFormat: 'openiap',
  eventType: 'receipt.validated',
  body: VerifyPurchaseBody,
  response: PurchaseVerification,
  permissions: ['write', 'stores'],
  writes: ['purchases'],
});

const optionalFields = {
  expectedProductId: ['Product that the purchase must have. Another product gives INAUTHENTIC.', 'premium'],
  applicationUsername: [
    'Customer who claims the purchase. Requires `accessToken`, or the secret key. Otherwise it is ignored.',
    'alice',
  ],
  accessToken: ["The customer's access token.", 'ak_V1StGXR8Z5jdHi6BmyTV1StGXR8Z5jdH'],
} as const;

const descriptions = [
  describeObject('AppleVerification', AppleVerification, 'A transaction of the App Store.', {
    store: ['The constant `apple`.', 'apple'],
    jws: ['The signed transaction of StoreKit 2.', 'eyJhbGciOiJFUzI1NiJ9.eyJ0IjoxfQ.c2lnbmF0dXJl'],
    ...optionalFields,
  }),
  describeObject('GoogleVerification', GoogleVerification, 'A purchase of Google Play.', {
    store: ['The constant `google`.', 'google'],
    purchaseToken: ['The purchase token.', 'kfgmlnpbhhgeoiiaajnbjhcd.AO-J1OxVJ0example'],
    ...optionalFields,
  }),
  describeValue(
    'VerifyPurchaseRequest',
    VerifyPurchaseBody,
    'A purchase as released OpenIAP clients send it. `store` selects the form.',
  ),
  describeValue(
    'OpenIapState',
    OpenIapState,
    'State of OpenIAP. ENTITLED, PENDING_ACKNOWLEDGMENT and READY_TO_CONSUME give access. CANCELED means refunded or revoked.',
    'ENTITLED',
  ),
  describeObject('PurchaseVerification', PurchaseVerification, 'The state of the purchase.', {
    store: ['The `store` of the request.', 'apple'],
    isValid: ['The purchase gives access.', true],
    state: ['The state.'],
    productId: ['Product of the purchase. Absent if the store rejects the evidence.', 'premium'],
    environment: ['Environment of the purchase.', 'Production'],
  }),
];

const operations = [
  describeOperation(verifyPurchase, {
    description:
      'Verifies a purchase with its store and records it, for OpenIAP clients with this service as their `baseUrl`. The Bearer header can have the public key alone. Rejected evidence has the HTTP status 200 and `isValid: false`; an error means that the service could not decide.',
  }),
];

export const openIapApi: ApiPart = { descriptions, operations };
