import * as v from 'valibot';

/** Data to query Google Play for a purchase again. `kind` is `subscription`, `product` or a one-time product type. */
export const RefreshToken = v.object({
  purchaseToken: v.string(),
  kind: v.string(),
  productId: v.optional(v.string(), ''),
});
export type RefreshToken = v.InferOutput<typeof RefreshToken>;
