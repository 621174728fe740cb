import type { DailyStat, MonthlyStat } from '../api/stats.ts';
import { countDaysBetween, getSameDayPreviousMonth, listDays, listMonths } from '../shared/calendar.ts';
import type { Tally } from './tally.ts';

/** The notifications that statistics list, whether they happened or not. */
const listedReasons = [
  'PURCHASED',
  'RENEWED',
  'WILL_LAPSE',
  'WILL_AUTO_RENEW',
  'EXPIRED',
  'REVOKED',
  'REFUNDED',
  'ENTERED_GRACE_PERIOD',
  'PAUSED',
] as const;

interface StatsOptions {
  /** Only money of this currency, and transactions in it. */
  readonly currency?: string | undefined;
  readonly includeNotifications?: boolean;
}

type TalliesByPeriod = ReadonlyMap<string, Tally>;

/** The first day that must be known for the daily records from `first` on: the month before it counts, too. */
export const getFirstRequiredDay = (first: string): string => getSameDayPreviousMonth(first);

/** The record of each day from the first to the last, days without anything included. */
export function buildDailyStats(
  days: TalliesByPeriod,
  [first, last]: readonly [string, string],
  wanted: StatsOptions,
): DailyStat[] {
  // Each day is summed up once: its tally has hundreds of names, and it is in the months of 31 days.
  const begin = getFirstRequiredDay(first);
  const sums = listDays(begin, last).map((date) => summarizeDay(days.get(date) ?? {}, wanted));
  return listDays(first, last).map((date) => {
    const end = countDaysBetween(begin, date) + 1;
    const month = sums.slice(end - countDaysInWindow(date), end);
    return {
      date,
      ...toCounts(days.get(date) ?? {}, wanted),
      monthlyRevenueUSD: roundToCents(sumField(month, 'usdMicros')),
      monthlyTransactions: sumField(month, 'transactions'),
      monthlyPaidTransactions: sumField(month, 'paid'),
    };
  });
}

/** What a month sums up of one of its days. */
const summarizeDay = (tally: Tally, wanted: StatsOptions) => ({
  usdMicros: sumUsdMicros(tally, wanted),
  transactions: countTransactions(tally, wanted),
  paid: countPaidTransactions(tally, wanted),
});
type DaySums = ReturnType<typeof summarizeDay>;

/** Always added up, never taken away again: what is rounded in a sum beyond whole numbers stays in its month. */
const sumField = (days: readonly DaySums[], name: keyof DaySums): number =>
  days.reduce((total, day) => total + day[name], 0);

/**
 * The days since the same day of the month before. That day itself is not in them, so that a subscription that renews on
 * the same day each month is in them once; where that month has no such day, they begin after its last one.
 */
const countDaysInWindow = (date: string): number => countDaysBetween(getSameDayPreviousMonth(date), date);

/** The record of each month from the first to the last. */
export const buildMonthlyStats = (
  months: TalliesByPeriod,
  [first, last]: readonly [string, string],
  wanted: StatsOptions,
): MonthlyStat[] => listMonths(first, last).map((date) => ({ date, ...toCounts(months.get(date) ?? {}, wanted) }));

function toCounts(tally: Tally, wanted: StatsOptions) {
  return {
    amountUSD: sumUsd(tally, wanted),
    amountMicros: Object.fromEntries(
      listCurrencies(tally, 'micros', wanted).map((code) => [code, tally[`${code}.micros`] ?? 0]),
    ),
    numRequests: tally.requests ?? 0,
    numTransactions: countTransactions(tally, wanted),
    numPaidTransactions: countPaidTransactions(tally, wanted),
    ...(wanted.includeNotifications && {
      notifications: Object.fromEntries(listedReasons.map((reason) => [reason, tally[`N.${reason}`] ?? 0])),
    }),
  };
}

/** The currencies of which a tally has this. What came and went again in one may be worth something in dollars still. */
const listCurrencies = (tally: Tally, what: 'micros' | 'usd', { currency }: StatsOptions): string[] =>
  Object.keys(tally)
    .filter((name) => name.endsWith(`.${what}`))
    .map((name) => name.slice(0, -what.length - 1))
    .filter((code) => currency === undefined || code === currency);

/** What a tally is worth in dollars. */
export const sumUsd = (tally: Tally, wanted: StatsOptions): number => roundToCents(sumUsdMicros(tally, wanted));

const sumUsdMicros = (tally: Tally, wanted: StatsOptions): number =>
  listCurrencies(tally, 'usd', wanted).reduce((sum, code) => sum + (tally[`${code}.usd`] ?? 0), 0);

/** Sums are kept in micros of a dollar, and shown in whole cents. */
const roundToCents = (usdMicros: number): number => Math.round(usdMicros / 10_000) / 100;

const countTransactions = (tally: Tally, { currency }: StatsOptions): number =>
  tally[currency === undefined ? 'transactions' : `${currency}.transactions`] ?? 0;

const countPaidTransactions = (tally: Tally, { currency }: StatsOptions): number =>
  tally[currency === undefined ? 'paid' : `${currency}.paid`] ?? 0;
