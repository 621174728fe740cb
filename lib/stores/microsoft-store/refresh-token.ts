import * as v from 'valibot';
import type { StoreService } from './store-id-key.ts';

const Key = v.exactOptional(v.pipe(v.string(), v.minLength(1)));

/** Data to query Microsoft for a purchase again. The StoreID keys are credentials. */
export const RefreshToken = v.object({
  collectionsKey: Key,
  purchaseKey: Key,
  /** The product's Store ID. */
  productId: v.pipe(v.string(), v.minLength(1)),
  /** The item of a product that is not a subscription. Identifies an item that has left the collection. */
  purchaseId: v.exactOptional(v.string()),
  sandboxId: v.exactOptional(v.string()),
  /** Billing period such as `P1M`, from the client's request. Microsoft does not report it. */
  period: v.exactOptional(v.string()),
  /** Latest price that a client reported, such as `4990000 USD`. Microsoft reports no prices of later payments. */
  price: v.exactOptional(v.string()),
  /**
   * Expiration of a subscription at this refresh. It is the renewal date if a later refresh finds another expiration.
   */
  expirationTime: v.exactOptional(v.string()),
});
export type RefreshToken = Readonly<v.InferOutput<typeof RefreshToken>>;

/** The member of a refresh token with the StoreID key of each service. */
export const keyFields = {
  collections: 'collectionsKey',
  purchase: 'purchaseKey',
} as const satisfies Record<StoreService, keyof RefreshToken>;
