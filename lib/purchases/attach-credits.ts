import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import type { Transaction } from './transaction.ts';

/**
 * Adds what each payment gives to payments that are recorded for the first time. A stored payment keeps what it gives,
 * or gives nothing: the catalogue of its time counts.
 */
export function attachCredits(
  transactions: readonly Transaction[],
  { stored, catalogue }: { readonly stored: readonly Transaction[]; readonly catalogue: Catalogue | undefined },
): readonly Transaction[] {
  const knownIds = new Set(stored.flatMap(({ transactionId, saleId }) => [transactionId, saleId]));
  return transactions.map((transaction) => {
    const { transactionId, saleId = transactionId, productId } = transaction;
    const { credits, expires = 'never' } = findCatalogueProduct(catalogue, productId) ?? {};
    if (!credits || knownIds.has(transactionId) || knownIds.has(saleId)) return transaction;
    const units = Object.entries(credits).map(([credit, perUnit]) => [credit, { perUnit, expires }]);
    return { ...transaction, credits: Object.fromEntries(units) };
  });
}
