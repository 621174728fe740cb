import type { Service } from '../foundation/service.ts';
import { findRatesForDate } from './exchange-rates/exchange-rate-table.ts';
import type { AppExchangeRates } from './rates.ts';
import { chooseUsdRate, needsUsdRate, type PaidAmount, withUsdRate } from './usd-conversion.ts';

interface PaidTransaction extends PaidAmount {
  readonly transactionId: string;
}

/**
 * Adds the USD conversion to transactions. Reads no rates for US dollars or for a transaction that is stored with a
 * final rate. An unavailable rate is added by a later observation, because a missing rate must not fail a validation.
 */
export async function attachUsdRates<T extends PaidTransaction>(
  service: Service,
  transactions: readonly T[],
  { stored: storedTransactions, appRates }: { stored: readonly T[]; appRates: AppExchangeRates | undefined },
): Promise<T[]> {
  const storedById = new Map(storedTransactions.map((transaction) => [transaction.transactionId, transaction]));
  const convert = async (transaction: T): Promise<T> => {
    const stored = storedById.get(transaction.transactionId);
    const converted = { ...transaction, ...(stored && chooseUsdRate(transaction, [transaction, stored])) };
    if (!needsUsdRate(converted)) return converted;
    const rates = await findRatesForDate(service, converted.purchaseDate).catch(() => undefined);
    return withUsdRate(converted, rates, appRates);
  };
  return await Promise.all(transactions.map(convert));
}
