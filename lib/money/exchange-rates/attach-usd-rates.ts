import type { ObservedTransaction } from '../../purchases/merge-transactions.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { chooseUsdRate, needsUsdRate, withUsdRate } from '../usd-conversion.ts';
import type { ExchangeRates } from './rate-cache.ts';

/**
 * A look at a purchase with the rates that its transactions are converted with. Reads none for US dollars, nor for what is
 * kept with its rate already; a rate that cannot be read is left for the next look, as no buyer waits for a rate.
 */
export async function attachUsdRates<T extends { readonly transactions: readonly Transaction[] }>(
  look: T,
  kept: readonly ObservedTransaction[],
  rates: ExchangeRates,
): Promise<T> {
  const keptById = new Map(kept.map(({ transaction }) => [transaction.transactionId, transaction]));
  const convert = async (transaction: Transaction): Promise<Transaction> => {
    const earlier = keptById.get(transaction.transactionId);
    const converted = { ...transaction, ...(earlier && chooseUsdRate(transaction, [transaction, earlier])) };
    return needsUsdRate(converted) ? withUsdRate(converted, await findRates(converted, rates)) : converted;
  };
  return { ...look, transactions: await Promise.all(look.transactions.map(convert)) };
}

const findRates = async ({ purchaseDate }: Transaction, rates: ExchangeRates) =>
  await rates.findForDate(purchaseDate).catch(() => undefined);
