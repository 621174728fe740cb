import { dayMs } from '../calendar.ts';
import { apiError } from './api-error.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';

// Source: https://developer.android.com/google/play/billing/lifecycle/subscriptions
const retentionMs = 60 * dayMs;

/**
 * Returns the purchase with this token. Throws an API error for another kind of purchase, or 60 days after a
 * subscription's end.
 */
export function requirePurchase(
  { state, now }: ResponseContext,
  token: string,
  kind: 'subscription' | 'product',
): Purchase {
  const purchase = state.purchases.get(token);
  if (purchase === undefined) throw apiError(404, 'purchaseTokenNotFound', 'The purchase token was not found.');
  const { subscription } = purchase;
  if ((subscription !== undefined) !== (kind === 'subscription')) throw apiError(400, 'invalid', 'Invalid Value');
  const isAged = subscription?.state === 'EXPIRED' && subscription.expiryTime + retentionMs <= now();
  if (purchase.isDeleted || isAged) {
    throw apiError(410, 'purchaseTokenNoLongerValid', 'The purchase token is no longer valid.');
  }
  return purchase;
}

/** Returns the purchase. Throws an API error unless this product is in the purchase. */
export function requireProduct(purchase: Purchase, productId: string): Purchase {
  const productIds = purchase.subscription?.items?.map((item) => item.productId) ?? [purchase.productId];
  if (productIds.includes(productId)) return purchase;
  throw apiError(400, 'purchaseTokenDoesNotMatchProductId', 'The purchase token does not match the product ID.');
}
