import { apiError } from './api-error.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';

const retentionMs = 60 * 86_400_000;

/** The purchase with that token, asked about as what it is; the store forgets ended subscriptions after sixty days. */
export function requirePurchase(
  { state, now }: ResponseContext,
  token: string,
  kind: 'subscription' | 'product',
): Purchase {
  const purchase = state.purchases.get(token);
  if (purchase === undefined) throw apiError(404, 'purchaseTokenNotFound', 'The purchase token was not found.');
  const { subscription } = purchase;
  if ((subscription !== undefined) !== (kind === 'subscription')) throw apiError(400, 'invalid', 'Invalid Value');
  if (subscription?.state === 'EXPIRED' && subscription.expiryTime + retentionMs <= now()) {
    throw apiError(410, 'purchaseTokenNoLongerValid', 'The purchase token is no longer valid.');
  }
  return purchase;
}

/** Throws unless the purchase is of that product. */
export function requireProduct(purchase: Purchase, productId: string): Purchase {
  if (purchase.productId === productId) return purchase;
  throw apiError(400, 'purchaseTokenDoesNotMatchProductId', 'The purchase token does not match the product ID.');
}
