import type { StoreTransaction } from './store-transaction.ts';

/**
 * The products, by their bare ids, whose introductory price this store account has used up: one such offer counts for all
 * products of its subscription group, of which only those that were ever bought are known here.
 */
export function listIneligibleForIntroPrice(transactions: readonly StoreTransaction[]): string[] {
  const used = transactions.filter(({ usedIntroOffer }) => usedIntroOffer);
  const groups = new Set(used.flatMap(({ subscriptionGroupId }) => subscriptionGroupId ?? []));
  const products = transactions.filter(
    (transaction) =>
      transaction.usedIntroOffer ||
      (transaction.subscriptionGroupId !== undefined && groups.has(transaction.subscriptionGroupId)),
  );
  return [...new Set(products.map(({ productId }) => productId))];
}
