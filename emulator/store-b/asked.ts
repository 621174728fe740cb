import { apiProblem } from './api-error.ts';
import type { Purchase } from './records.ts';
import type { Source } from './source.ts';

const keptMs = 60 * 86_400_000;

/** The purchase with that token, asked about as what it is; the store forgets ended subscriptions after sixty days. */
export function askedPurchase({ books, now }: Source, token: string, kind: 'subscription' | 'product'): Purchase {
  const purchase = books.purchases.get(token);
  if (purchase === undefined) throw apiProblem(404, 'purchaseTokenNotFound', 'The purchase token was not found.');
  const { subscription } = purchase;
  if ((subscription !== undefined) !== (kind === 'subscription')) throw apiProblem(400, 'invalid', 'Invalid Value');
  if (subscription?.state === 'EXPIRED' && subscription.expiryTime + keptMs <= now()) {
    throw apiProblem(410, 'purchaseTokenNoLongerValid', 'The purchase token is no longer valid.');
  }
  return purchase;
}

/** Throws unless the purchase is of that product. */
export function demandProduct(purchase: Purchase, productId: string): Purchase {
  if (purchase.productId === productId) return purchase;
  throw apiProblem(400, 'purchaseTokenDoesNotMatchProductId', 'The purchase token does not match the product ID.');
}
