import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Username } from './identifiers.ts';
import { nullableOptional } from './schemas.ts';

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
export const AppleVerification = v.object({ store: v.literal('apple'), jws: Jws, ...optionalMembers });

/** A purchase of Google Play. */
export const GoogleVerification = v.object({
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
  productId: v.exactOptional(v.string()),
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
});
