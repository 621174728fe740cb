import type { DayRates } from './day-rates.ts';
import { isGood } from './day-rates.ts';

/** The rate that an amount is converted with; both absent while it is unknown, and for US dollars. */
export interface Priced {
  readonly usdRate?: string;
  /** The day of the rate. */
  readonly usdRateDate?: string;
}

interface Paid extends Priced {
  readonly purchaseDate: number;
  readonly currency?: string;
  readonly amountMicros?: number;
}

/** Whether the amount awaits a rate: it is in another currency, and has none or only an estimate. */
export const awaitsRate = ({ amountMicros, currency, usdRateDate, purchaseDate }: Paid): boolean =>
  amountMicros !== undefined &&
  currency !== undefined &&
  currency !== 'USD' &&
  (usdRateDate === undefined || !isGood(usdRateDate, purchaseDate));

/** The transaction with the rate of these days' rates; as it is when it awaits none or its currency is not among them. */
export function priced<T extends Paid>(transaction: T, rates: DayRates | undefined): T {
  const { currency } = transaction;
  if (!rates || currency === undefined || !awaitsRate(transaction)) return transaction;
  const units = currency === 'EUR' ? '1' : ownValue(rates.perEuro, currency);
  if (units === undefined) return transaction;
  return { ...transaction, usdRate: `${rates.perEuro.USD}/${units}`, usdRateDate: rates.date };
}

/**
 * The rate to keep for what was paid, of several reports of it: a good rate beats an estimate, then the later day. The rate
 * of another currency or another day is worth nothing.
 */
export function keptRate(paid: Paid, reports: readonly Paid[]): Priced {
  const candidates = reports.filter(
    ({ usdRate, currency, purchaseDate }) =>
      usdRate !== undefined && currency === paid.currency && purchaseDate === paid.purchaseDate,
  );
  const worth = ({ usdRateDate = '', usdRate = '' }: Paid): string =>
    `${isGood(usdRateDate, paid.purchaseDate) ? 1 : 0}${usdRateDate} ${usdRate}`;
  const [best] = candidates.sort((a, b) => (worth(a) > worth(b) ? -1 : 1));
  return rateOf(best ?? {});
}

/** Only the rate. */
export const rateOf = ({ usdRate, usdRateDate }: Priced): Priced => ({
  ...(usdRate !== undefined && { usdRate }),
  ...(usdRateDate !== undefined && { usdRateDate }),
});

/** Without the rate, which depends on the currency and the date and on no look. */
export const unrated = <T extends Priced>({ usdRate, usdRateDate, ...record }: T): Omit<T, keyof Priced> => record;

const ownValue = (record: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
