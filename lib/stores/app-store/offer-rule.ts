import * as v from 'valibot';
import { offerKinds } from '../../foundation/offer-kinds.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(200));

/** Customers who can have an offer, by their purchases of the product and its group in the catalogue. */
const Who = v.picklist(['all', 'had-it-before', 'never-had-it', 'lapsed']);

const common = { productId: Text, who: v.optional(Who, 'all') };
const [promotional, promotionalV1, introductory, advancedCommerce] = offerKinds;

/** An offer that the service signs, with its condition. */
export const OfferRule = v.variant(
  'kind',
  [
    v.strictObject({ kind: v.literal(promotional), offerId: Text, ...common }),
    v.strictObject({ kind: v.literal(promotionalV1), offerId: Text, ...common }),
    v.strictObject({ kind: v.literal(introductory), ...common }),
    v.strictObject({
      kind: v.literal(advancedCommerce),
      offerId: Text,
      /** The request of the Advanced Commerce API, without `requestInfo`. Clients never send it. */
      request: v.looseObject({ operation: Text, version: Text }),
      ...common,
    }),
  ],
  `an offer of the kind ${offerKinds.join(', ')}, with productId, and offerId or request as its kind requires`,
);
export type OfferRule = Readonly<v.InferOutput<typeof OfferRule>>;
