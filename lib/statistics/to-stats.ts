import { countDaysBetween, getSameDayPreviousMonth, listDays, listMonths } from '../foundation/calendar.ts';
import type { LifecycleReason } from '../purchases/lifecycle-reasons.ts';
import type { DailyStat, MonthlyStat } from './contract.ts';
import { type CurrencySum, toCurrencyName, toReasonName } from './counter-names.ts';
import type { Counts } from './counts.ts';
import { toRate } from './figure-sums.ts';

/**
 * The specification defines the listed keys. The counters contain the other reasons too, but these change neither
 * access nor revenue, or their payment is a transaction (`PLAN_CHANGED`).
 */
const isListedReason: Readonly<Record<LifecycleReason, boolean>> = {
  PURCHASED: true,
  RENEWED: true,
  WILL_LAPSE: true,
  WILL_AUTO_RENEW: true,
  EXPIRED: true,
  REVOKED: true,
  REFUNDED: true,
  ENTERED_GRACE_PERIOD: true,
  PAUSED: true,
  PLAN_CHANGED: false,
  EXTENDED: false,
  PRICE_CHANGE_CONFIRMED: false,
  PRICE_CHANGE_UPDATED: false,
  ACKNOWLEDGED: false,
};

/** The notification reasons in statistics; reasons without a notification are listed as 0. */
export const listedReasons = Object.entries(isListedReason).flatMap(([reason, isListed]) => (isListed ? [reason] : []));

interface StatsOptions {
  /** Restricts amounts and transactions to this currency. */
  readonly currency?: string | undefined;
  readonly includeNotifications?: boolean;
}

type CountsByPeriod = ReadonlyMap<string, Counts>;

/** Returns the first day that `buildDailyStats` needs: the rolling month of `first` starts there. */
export const getFirstRequiredDay = (first: string): string => getSameDayPreviousMonth(first);

/** Builds one record for each day from `first` to `last`, both included. */
export function buildDailyStats(
  days: CountsByPeriod,
  [first, last]: readonly [string, string],
  options: StatsOptions,
): DailyStat[] {
  // Each counts has hundreds of names and is part of up to 31 rolling months, so it is summarized once.
  const firstRequiredDay = getFirstRequiredDay(first);
  const daySums = listDays(firstRequiredDay, last).map((date) => summarizeDay(days.get(date) ?? {}, options));
  return listDays(first, last).map((date) => {
    const end = countDaysBetween(firstRequiredDay, date) + 1;
    const rollingMonth = daySums.slice(end - countDaysInRollingMonth(date), end);
    return {
      date,
      ...toCounts(days.get(date) ?? {}, options),
      monthlyRevenueUSD: roundToCents(sumField(rollingMonth, 'usdMicros')),
      monthlyTransactions: sumField(rollingMonth, 'transactions'),
      monthlyPaidTransactions: sumField(rollingMonth, 'paid'),
    };
  });
}

const summarizeDay = (counts: Counts, options: StatsOptions) => ({
  usdMicros: sumUsdMicros(counts, options),
  transactions: countTransactions(counts, options),
  paid: countPaidTransactions(counts, options),
});
type DaySums = ReturnType<typeof summarizeDay>;

/** Adds up the window for each day: a running sum would keep the rounding errors of sums beyond 53 bits. */
const sumField = (days: readonly DaySums[], name: keyof DaySums): number =>
  days.reduce((total, day) => total + day[name], 0);

/**
 * Counts the days after the same day of the previous month, so a monthly renewal is in the window exactly once. If the
 * previous month is shorter, the window starts after its last day.
 */
const countDaysInRollingMonth = (date: string): number => countDaysBetween(getSameDayPreviousMonth(date), date);

/** Builds one record for each month from `first` to `last`, both included. */
export const buildMonthlyStats = (
  months: CountsByPeriod,
  [first, last]: readonly [string, string],
  options: StatsOptions,
): MonthlyStat[] => listMonths(first, last).map((date) => ({ date, ...toCounts(months.get(date) ?? {}, options) }));

function toCounts(counts: Counts, options: StatsOptions) {
  const unconvertedShare = toRate(countUnconverted(counts, options), countPaidTransactions(counts, options));
  return {
    amountUSD: sumUsd(counts, options),
    amountMicros: Object.fromEntries(
      listCurrencies(counts, 'micros', options).map((code) => [code, counts[toCurrencyName(code, 'micros')] ?? 0]),
    ),
    numRequests: counts.requests ?? 0,
    numTransactions: countTransactions(counts, options),
    numPaidTransactions: countPaidTransactions(counts, options),
    ...(unconvertedShare > 0 && { unconvertedShare }),
    ...(options.includeNotifications && {
      notifications: Object.fromEntries(listedReasons.map((reason) => [reason, counts[toReasonName(reason)] ?? 0])),
    }),
  };
}

/** Lists the currencies with this sum. A currency without `micros` can have `usd`: its rate changed before a refund. */
const listCurrencies = (counts: Counts, sum: CurrencySum, { currency }: StatsOptions): string[] =>
  Object.keys(counts)
    // The sums of a platform contain a slash.
    .filter((name) => name.endsWith(`.${sum}`) && !name.includes('/'))
    .map((name) => name.slice(0, -sum.length - 1))
    .filter((code) => currency === undefined || code === currency);

/** Returns US dollars, rounded to cents. */
export const sumUsd = (counts: Counts, options: StatsOptions): number => roundToCents(sumUsdMicros(counts, options));

const sumUsdMicros = (counts: Counts, options: StatsOptions): number =>
  listCurrencies(counts, 'usd', options).reduce((sum, code) => sum + (counts[toCurrencyName(code, 'usd')] ?? 0), 0);

export const roundToCents = (usdMicros: number): number => Math.round(usdMicros / 10_000) / 100;

/** Converts to US dollars without rounding, for totals. */
export const toExactUsd = (usdMicros: number): number => usdMicros / 1_000_000;

const countUnconverted = (counts: Counts, options: StatsOptions): number =>
  listCurrencies(counts, 'unrated', options).reduce(
    (sum, code) => sum + (counts[toCurrencyName(code, 'unrated')] ?? 0),
    0,
  );

const countTransactions = (counts: Counts, { currency }: StatsOptions): number =>
  counts[currency === undefined ? 'transactions' : toCurrencyName(currency, 'transactions')] ?? 0;

const countPaidTransactions = (counts: Counts, { currency }: StatsOptions): number =>
  counts[currency === undefined ? 'paid' : toCurrencyName(currency, 'paid')] ?? 0;
