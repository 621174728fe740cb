import { awaitsRate, keptRate, priced } from '../money/priced.ts';
import type { KnownTransaction } from '../purchases/known-transactions.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { Rates } from './cached-rates.ts';

/**
 * A look at a purchase with the rates that its transactions are converted with. Reads none for US dollars, nor for what is
 * kept with its rate already; a rate that cannot be read is left for the next look, as no buyer waits for a rate.
 */
export async function pricedLook<T extends { readonly transactions: readonly Transaction[] }>(
  look: T,
  kept: readonly KnownTransaction[],
  rates: Rates,
): Promise<T> {
  const keptById = new Map(kept.map(({ transaction }) => [transaction.transactionId, transaction]));
  const price = async (transaction: Transaction): Promise<Transaction> => {
    const earlier = keptById.get(transaction.transactionId);
    const rated = { ...transaction, ...(earlier && keptRate(transaction, [transaction, earlier])) };
    return awaitsRate(rated) ? priced(rated, await ratesFor(rated, rates)) : rated;
  };
  return { ...look, transactions: await Promise.all(look.transactions.map(price)) };
}

const ratesFor = async ({ purchaseDate }: Transaction, rates: Rates) =>
  await rates.of(purchaseDate).catch(() => undefined);
