import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { Id, nullableOptional, OptionalText, Username } from '../api/schemas.ts';
import { offerKinds } from '../foundation/offer-kinds.ts';

const OfferKind = v.picklist(offerKinds);

const OfferRequest = v.object({
  kind: OfferKind,
  productId: Id,
  offerId: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
  transactionId: nullableOptional(v.pipe(v.string(), v.regex(/^(?:\w+:)?\d{1,20}$/, 'a transaction id'))),
  applicationUsername: Username,
  accessToken: nullableOptional(v.string()),
});

const OfferSignature = v.strictObject({
  kind: OfferKind,
  productId: v.string(),
  /** A JWS, or the signature of the first version in base64. */
  signature: v.string(),
  keyId: v.string(),
  nonce: v.string(),
  /** Epoch milliseconds. */
  timestamp: v.number(),
  appAccountToken: OptionalText,
});

// Spec: not shown. Apple requires that a server signs offers.
export const signOffer = defineContract({
  id: 'sign-offer',
  area: 'stores',
  summary: 'Sign an offer of the App Store for a customer',
  method: 'POST',
  path: '/v3/store_a/offers/sign',
  aliases: ['/v3/apple/offers/sign'],
  keyLevel: 'public',
  errorFormat: 'default',
  eventType: 'offer.signed',
  body: OfferRequest,
  response: OfferSignature,
  permissions: ['write', 'stores', 'indexes'],
  writes: ['purchases'],
});

const descriptions = [
  describeObject('OfferRequest', OfferRequest, 'An offer to sign.', {
    kind: ['Kind of the offer.', 'promotional'],
    productId: ['Product of the offer.', 'premium_monthly'],
    offerId: ['Offer in App Store Connect. Not for introductory offers.', 'winback'],
    transactionId: ['Transaction of the customer. Required for `introductory`, see the guide.', '2000000123456789'],
    applicationUsername: ['Customer for whom the offer is signed.', 'alice'],
    accessToken: [
      'Access token of the customer. A validation of a purchase of the customer in the last hour replaces it.',
      'f2f4c1a09e7d4b6b8a3c5d1e0f7a9b2c',
    ],
  }),
  describeObject('OfferSignature', OfferSignature, 'A signed offer for StoreKit.', {
    kind: ['Kind of the offer.', 'promotional'],
    productId: ['Product of the offer, without prefix.', 'premium_monthly'],
    signature: [
      'A JWS in compact form, or the signature of `promotional-v1` in base64.',
      'eyJhbGciOiJFUzI1NiJ9.eyJi.MEUC',
    ],
    keyId: ['Id of the In-App Purchase key.', 'ABC123DEFG'],
    nonce: [
      'UUID of the signature. Part of the arguments of `promotional-v1`.',
      'f1b1d1f0-54d6-4c83-8d9c-2b4a1f0c9e77',
    ],
    timestamp: [
      'Time of the signature in epoch milliseconds. Part of the arguments of `promotional-v1`.',
      1_768_469_400_000,
    ],
    appAccountToken: [
      'Only of `promotional-v1`: the app must pass the same token to StoreKit.',
      '9f86d081-884c-3d65-8a2f-eaa0c55ad015',
    ],
  }),
];

const operations = [
  describeOperation(signOffer, {
    description:
      'Signs an offer that `offers` of the store_a settings lists, if the customer meets its condition. The public key ' +
      "requires the customer's access token, or a validation of a purchase of the customer in the last hour. 400 for an " +
      'offer that is not listed, 403 if the condition is not met, 429 after 20 signatures for a customer or a receipt: ' +
      'there is one more every three minutes.',
    bodyExamples: {
      promotional: {
        summary: 'A promotional offer',
        value: { kind: 'promotional', productId: 'premium_monthly', offerId: 'winback', applicationUsername: 'alice' },
      },
    },
  }),
];

export const offerApi: ApiPart = { descriptions, operations };
