import * as v from 'valibot';

const Key = v.exactOptional(v.pipe(v.string(), v.minLength(1)));

/** What asking again needs: the StoreID keys, which are credentials, and what they are to be asked about. */
export const RefreshToken = v.object({
  collectionsKey: Key,
  purchaseKey: Key,
  /** The product's Store ID. */
  productId: v.pipe(v.string(), v.minLength(1)),
  sandboxId: v.exactOptional(v.string()),
  /** The length of a subscription's periods, which the store does not tell, such as `P1M`. */
  period: v.exactOptional(v.string()),
  /** When the subscription was to expire at this look; a later one that finds it moved knows the date of the renewal. */
  expirationTime: v.exactOptional(v.string()),
});
export type RefreshToken = Readonly<v.InferOutput<typeof RefreshToken>>;
