import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import {
  type AppExchangeRates,
  type DailyRates,
  findAppRate,
  isInRateWindow,
  parseFraction,
  toUtcDay,
} from './rates.ts';

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

/**
 * Currencies with a fixed rate that the European Central Bank does not publish: units per US dollar or per euro.
 * @see https://www.imf.org/en/Publications/Annual-Report-on-Exchange-Arrangements-and-Exchange-Restrictions
 */
const unitsPerDollar: ReadonlyMap<string, string> = new Map([
  ['AED', '3.6725'],
  ['AWG', '1.79'],
  ['BBD', '2'],
  ['BHD', '0.376'],
  ['BMD', '1'],
  ['BSD', '1'],
  ['BZD', '2'],
  ['ERN', '15'],
  ['JOD', '0.709'],
  ['OMR', '0.3845'],
  ['PAB', '1'],
  ['QAR', '3.64'],
  ['SAR', '3.75'],
  ['XCD', '2.7'],
]);

const unitsPerEuro: ReadonlyMap<string, string> = new Map([
  ['BAM', '1.95583'],
  ['BGN', '1.95583'],
  ['CVE', '110.265'],
  ['HRK', '7.5345'],
  ['KMF', '491.96775'],
  ['XAF', '655.957'],
  ['XOF', '655.957'],
  ['XPF', '119.33174'],
]);

interface Amount {
  readonly amountMicros?: number;
  readonly currency?: string;
  /** Stored with the amount. */
  readonly usdRate?: string;
}

const microsPerCent = 10_000n;

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

export const pickUsdRate = ({ usdRate, usdRateDate }: UsdConversion): UsdConversion =>
  omitUndefined({ usdRate, usdRateDate });

/** Removes the rate. It depends on currency and date only, so it does not make an observation newer. */
export const omitUsdRate = <T extends UsdConversion>({
  usdRate,
  usdRateDate,
  ...record
}: T): Omit<T, keyof UsdConversion> => record;

const getOwn = (record: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Returns the fixed rate of a currency. Undefined if its rate is not fixed. */
function findPeg(currency: string): { readonly to: 'USD' | 'EUR'; readonly units: string } | undefined {
  const dollar = unitsPerDollar.get(currency);
  if (dollar !== undefined) return { to: 'USD', units: dollar };
  const euro = unitsPerEuro.get(currency);
  return euro === undefined ? undefined : { to: 'EUR', units: euro };
}

/** Sums in US dollars lack an amount without a rate. */
export const isUnconverted = (amount: Amount): boolean =>
  amount.amountMicros !== undefined &&
  amount.currency !== undefined &&
  amount.currency !== 'USD' &&
  amount.usdRate === undefined;

/**
 * Converts an amount to US dollars. An amount in US dollars is exact; a converted one is rounded half to even to whole
 * cents. Returns null if the amount or its rate is missing, and 0 for 0 in any currency.
 */
export function toAmountUsd({ amountMicros, currency, usdRate }: Amount): number | null {
  if (amountMicros === 0) return 0;
  if (amountMicros === undefined || currency === undefined) return null;
  if (currency === 'USD') return amountMicros / 1_000_000;
  if (usdRate === undefined) return null;
  const [dollars, units] = parseFraction(usdRate);
  const cents = divideHalfEven(BigInt(Math.round(amountMicros)) * dollars, units * microsPerCent);
  return Number(cents) / 100;
}

/** Divides and rounds half to even. The divisor must be positive. */
function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const truncated = dividend / divisor;
  const floor = dividend < truncated * divisor ? truncated - 1n : truncated;
  const rest = 2n * (dividend - floor * divisor);
  if (rest === divisor) return floor % 2n === 0n ? floor : floor + 1n;
  return rest > divisor ? floor + 1n : floor;
}
