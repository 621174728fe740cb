import type { EpochMillis } from '../shared/time.ts';
import type { AppExchangeRates } from './app-exchange-rates.ts';
import type { DailyRates } from './daily-rates.ts';
import { chooseUsdRate, needsUsdRate, type PaidAmount, withUsdRate } from './usd-conversion.ts';

/** The exchange rates that amounts are converted with. */
export interface ExchangeRates {
  /** Returns the rates in force on the purchase date. Undefined if none are near enough. */
  findForDate(purchaseDate: EpochMillis): Promise<DailyRates | undefined>;
}

/** The exchange rates with those of an app. */
export interface PaymentRates extends ExchangeRates {
  readonly ofApp?: AppExchangeRates | undefined;
}

interface PaidTransaction extends PaidAmount {
  readonly transactionId: string;
}

/**
 * Adds the USD conversion to transactions. Reads no rates for US dollars or for a transaction that is stored with a
 * final rate. An unavailable rate is added by a later observation, because a missing rate must not fail a validation.
 */
export async function attachUsdRates<T extends PaidTransaction>(
  transactions: readonly T[],
  storedTransactions: readonly T[],
  rates: PaymentRates,
): Promise<T[]> {
  const storedById = new Map(storedTransactions.map((transaction) => [transaction.transactionId, transaction]));
  const convert = async (transaction: T): Promise<T> => {
    const stored = storedById.get(transaction.transactionId);
    const converted = { ...transaction, ...(stored && chooseUsdRate(transaction, [transaction, stored])) };
    if (!needsUsdRate(converted)) return converted;
    return withUsdRate(converted, await tryFindRates(converted, rates), rates.ofApp);
  };
  return await Promise.all(transactions.map(convert));
}

const tryFindRates = async ({ purchaseDate }: PaidAmount, rates: ExchangeRates): Promise<DailyRates | undefined> =>
  await rates.findForDate(purchaseDate).catch(() => undefined);
