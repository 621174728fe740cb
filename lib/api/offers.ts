import * as v from 'valibot';
import { offerKinds } from '../foundation/offer-kinds.ts';
import { defineContract } from './contract.ts';
import { Id, Username } from './identifiers.ts';
import { nullableOptional } from './schemas.ts';

const OfferKind = v.picklist(offerKinds);

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
  body: v.object({
    kind: OfferKind,
    productId: Id,
    offerId: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
    transactionId: nullableOptional(v.pipe(v.string(), v.regex(/^(?:\w+:)?\d{1,20}$/, 'a transaction id'))),
    applicationUsername: Username,
    accessToken: nullableOptional(v.string()),
  }),
  response: v.strictObject({
    kind: OfferKind,
    productId: v.string(),
    /** A JWS, or the signature of the first version in base64. */
    signature: v.string(),
    keyId: v.string(),
    nonce: v.string(),
    /** Epoch milliseconds. */
    timestamp: v.number(),
    appAccountToken: v.exactOptional(v.string()),
  }),
  permissions: ['write', 'stores', 'indexes'],
});
