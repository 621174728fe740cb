import type { EpochMillis } from '../foundation/time.ts';
import { type AppExchangeRates, findAppRate } from './app-exchange-rates.ts';
import { findPeg } from './currency-pegs.ts';
import { type DailyRates, isInRateWindow, toUtcDay } from './daily-rates.ts';

/** The rate of an amount. Both are undefined for US dollars and while the rate is missing. */
export interface UsdConversion {
  readonly usdRate?: string;
  /** Day of the rate (`YYYY-MM-DD`). */
  readonly usdRateDate?: string;
}

/** An amount that was paid on a date. */
export interface PaidAmount extends UsdConversion {
  readonly purchaseDate: EpochMillis;
  readonly currency?: string;
  readonly amountMicros?: number;
}

/** The amount is in another currency than US dollars and lacks a rate or has only a fallback rate. */
export const needsUsdRate = ({ amountMicros, currency, usdRateDate, purchaseDate }: PaidAmount): boolean =>
  amountMicros !== undefined &&
  currency !== undefined &&
  currency !== 'USD' &&
  (usdRateDate === undefined || !isInRateWindow(usdRateDate, purchaseDate));

/**
 * Adds the rate of the day to a transaction. Returns it unchanged if it needs no rate, or if its currency lacks one.
 */
export function withUsdRate<T extends PaidAmount>(
  transaction: T,
  daily: DailyRates | undefined,
  ofApp: AppExchangeRates = [],
): T {
  const { currency, purchaseDate } = transaction;
  if (currency === undefined || !needsUsdRate(transaction)) return transaction;
  return { ...transaction, ...findUsdRate({ currency, purchaseDate }, daily, ofApp) };
}

/** Finds a rate: the app's, a fixed one, or the European Central Bank's. Undefined without any. */
function findUsdRate(
  { currency, purchaseDate }: Required<Pick<PaidAmount, 'currency' | 'purchaseDate'>>,
  daily: DailyRates | undefined,
  ofApp: AppExchangeRates,
): UsdConversion | undefined {
  const units = currency === 'EUR' ? '1' : daily && getOwn(daily.perEuro, currency);
  if (daily && units !== undefined) return { usdRate: `${daily.perEuro.USD}/${units}`, usdRateDate: daily.date };
  const appRate = findAppRate(ofApp, currency, purchaseDate);
  if (appRate) return { usdRate: `1/${appRate.perUSD}`, usdRateDate: appRate.from };
  const peg = findPeg(currency);
  if (peg?.to === 'USD') return { usdRate: `1/${peg.units}`, usdRateDate: toUtcDay(purchaseDate, -1) };
  return peg && daily && { usdRate: `${daily.perEuro.USD}/${peg.units}`, usdRateDate: daily.date };
}

/**
 * Chooses the rate of an amount from several observations. A valid rate takes precedence over a fallback rate, then the
 * later day. Ignores rates for a different currency or purchase date.
 */
export function chooseUsdRate(paid: PaidAmount, observed: readonly PaidAmount[]): UsdConversion {
  const candidates = observed.filter(
    ({ usdRate, currency, purchaseDate }) =>
      usdRate !== undefined && currency === paid.currency && purchaseDate === paid.purchaseDate,
  );
  const rank = ({ usdRateDate = '', usdRate = '' }: PaidAmount): string =>
    `${isInRateWindow(usdRateDate, paid.purchaseDate) ? 1 : 0}${usdRateDate} ${usdRate}`;
  const [best] = candidates.sort((a, b) => (rank(a) > rank(b) ? -1 : 1));
  return pickUsdRate(best ?? {});
}

export const pickUsdRate = ({ usdRate, usdRateDate }: UsdConversion): UsdConversion => ({
  ...(usdRate !== undefined && { usdRate }),
  ...(usdRateDate !== undefined && { usdRateDate }),
});

/** Removes the rate. It depends on currency and date only, so it does not make an observation newer. */
export const omitUsdRate = <T extends UsdConversion>({
  usdRate,
  usdRateDate,
  ...record
}: T): Omit<T, keyof UsdConversion> => record;

const getOwn = (record: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
