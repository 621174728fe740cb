import type { DailyRates } from './daily-rates.ts';
import { isInRateWindow } from './daily-rates.ts';

/** The rate that an amount is converted with; both absent while it is unknown, and for US dollars. */
export interface UsdConversion {
  readonly usdRate?: string;
  /** The day of the rate. */
  readonly usdRateDate?: string;
}

export interface PaidAmount extends UsdConversion {
  readonly purchaseDate: number;
  readonly currency?: string;
  readonly amountMicros?: number;
}

/** Whether the amount awaits a rate: it is in another currency, and has none or only an estimate. */
export const needsUsdRate = ({ amountMicros, currency, usdRateDate, purchaseDate }: PaidAmount): boolean =>
  amountMicros !== undefined &&
  currency !== undefined &&
  currency !== 'USD' &&
  (usdRateDate === undefined || !isInRateWindow(usdRateDate, purchaseDate));

/** The transaction with the rate of these days' rates; as it is when it awaits none or its currency is not among them. */
export function withUsdRate<T extends PaidAmount>(transaction: T, rates: DailyRates | undefined): T {
  const { currency } = transaction;
  if (!rates || currency === undefined || !needsUsdRate(transaction)) return transaction;
  const units = currency === 'EUR' ? '1' : getOwn(rates.perEuro, currency);
  if (units === undefined) return transaction;
  return { ...transaction, usdRate: `${rates.perEuro.USD}/${units}`, usdRateDate: rates.date };
}

/**
 * The rate to keep for what was paid, of several reports of it: a good rate beats an estimate, then the later day. The rate
 * of another currency or another day is worth nothing.
 */
export function chooseUsdRate(paid: PaidAmount, reports: readonly PaidAmount[]): UsdConversion {
  const candidates = reports.filter(
    ({ usdRate, currency, purchaseDate }) =>
      usdRate !== undefined && currency === paid.currency && purchaseDate === paid.purchaseDate,
  );
  const rank = ({ usdRateDate = '', usdRate = '' }: PaidAmount): string =>
    `${isInRateWindow(usdRateDate, paid.purchaseDate) ? 1 : 0}${usdRateDate} ${usdRate}`;
  const [best] = candidates.sort((a, b) => (rank(a) > rank(b) ? -1 : 1));
  return pickUsdRate(best ?? {});
}

/** Only the rate. */
export const pickUsdRate = ({ usdRate, usdRateDate }: UsdConversion): UsdConversion => ({
  ...(usdRate !== undefined && { usdRate }),
  ...(usdRateDate !== undefined && { usdRateDate }),
});

/** Without the rate, which depends on the currency and the date and on no look. */
export const omitUsdRate = <T extends UsdConversion>({
  usdRate,
  usdRateDate,
  ...record
}: T): Omit<T, keyof UsdConversion> => record;

const getOwn = (record: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
