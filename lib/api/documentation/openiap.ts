import { describeObject, describeOperation, describeValue } from '../describe.ts';
import {
  AppleVerification,
  GoogleVerification,
  OpenIapState,
  PurchaseVerification,
  verifyPurchase,
} from '../openiap.ts';

const optionalFields = {
  expectedProductId: ['Product that the purchase must have. Another product gives INAUTHENTIC.', 'premium'],
  applicationUsername: [
    'Customer who claims the purchase. Requires `accessToken`, or the secret key. Otherwise it is ignored.',
    'alice',
  ],
  accessToken: ["The customer's access token.", 'ak_V1StGXR8Z5jdHi6BmyTV1StGXR8Z5jdH'],
} as const;

export const openIapDescriptions = [
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
    verifyPurchase.body,
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
    isValid: ['Whether the purchase gives access.', true],
    state: ['The state.'],
    productId: ['Product of the purchase. Absent if the store rejects the evidence.', 'premium'],
    environment: ['Environment of the purchase.', 'Production'],
  }),
];

export const openIapOperations = [
  describeOperation(verifyPurchase, {
    description:
      'Verifies a purchase with its store and records it, for OpenIAP clients with this service as their `baseUrl`. The Bearer header can have the public key alone. Rejected evidence has the HTTP status 200 and `isValid: false`; an error means that the service could not decide.',
  }),
];
