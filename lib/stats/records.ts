import type { DailyStat, MonthlyStat } from '../api/stats.ts';
import { daysApart, daysBetween, monthsBetween, sameDayMonthBefore } from './calendar.ts';
import type { Tally } from './tally.ts';

/** The notifications that statistics list, whether they happened or not. */
const listed = [
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

interface Wanted {
  /** Only money of this currency, and transactions in it. */
  readonly currency?: string | undefined;
  readonly withNotifications?: boolean;
}

type Tallies = ReadonlyMap<string, Tally>;

/** The first day that must be known for the daily records from `first` on: the month before it counts, too. */
export const firstNeeded = (first: string): string => sameDayMonthBefore(first);

/** The record of each day from the first to the last, days without anything included. */
export function dailyStats(days: Tallies, [first, last]: readonly [string, string], wanted: Wanted): DailyStat[] {
  // Each day is summed up once: its tally has hundreds of names, and it is in the months of 31 days.
  const begin = firstNeeded(first);
  const sums = daysBetween(begin, last).map((date) => sumsOf(days.get(date) ?? {}, wanted));
  return daysBetween(first, last).map((date) => {
    const end = daysApart(begin, date) + 1;
    const month = sums.slice(end - monthLength(date), end);
    return {
      date,
      ...countsOf(days.get(date) ?? {}, wanted),
      monthlyRevenueUSD: inCents(totalOf(month, 'usdMicros')),
      monthlyTransactions: totalOf(month, 'transactions'),
      monthlyPaidTransactions: totalOf(month, 'paid'),
    };
  });
}

/** What a month sums up of one of its days. */
const sumsOf = (tally: Tally, wanted: Wanted) => ({
  usdMicros: usdMicrosOf(tally, wanted),
  transactions: transactionsOf(tally, wanted),
  paid: paidOf(tally, wanted),
});
type Sums = ReturnType<typeof sumsOf>;

/** Always added up, never taken away again: what is rounded in a sum beyond whole numbers stays in its month. */
const totalOf = (days: readonly Sums[], name: keyof Sums): number => days.reduce((total, day) => total + day[name], 0);

/**
 * The days since the same day of the month before. That day itself is not in them, so that a subscription that renews on
 * the same day each month is in them once; where that month has no such day, they begin after its last one.
 */
const monthLength = (date: string): number => daysApart(sameDayMonthBefore(date), date);

/** The record of each month from the first to the last. */
export const monthlyStats = (
  months: Tallies,
  [first, last]: readonly [string, string],
  wanted: Wanted,
): MonthlyStat[] => monthsBetween(first, last).map((date) => ({ date, ...countsOf(months.get(date) ?? {}, wanted) }));

function countsOf(tally: Tally, wanted: Wanted) {
  return {
    amountUSD: dollarsOf(tally, wanted),
    amountMicros: Object.fromEntries(
      currenciesOf(tally, 'micros', wanted).map((code) => [code, tally[`${code}.micros`] ?? 0]),
    ),
    numRequests: tally.requests ?? 0,
    numTransactions: transactionsOf(tally, wanted),
    numPaidTransactions: paidOf(tally, wanted),
    ...(wanted.withNotifications && {
      notifications: Object.fromEntries(listed.map((reason) => [reason, tally[`N.${reason}`] ?? 0])),
    }),
  };
}

/** The currencies of which a tally has this. What came and went again in one may be worth something in dollars still. */
const currenciesOf = (tally: Tally, what: 'micros' | 'usd', { currency }: Wanted): string[] =>
  Object.keys(tally)
    .filter((name) => name.endsWith(`.${what}`))
    .map((name) => name.slice(0, -what.length - 1))
    .filter((code) => currency === undefined || code === currency);

/** What a tally is worth in dollars. */
export const dollarsOf = (tally: Tally, wanted: Wanted): number => inCents(usdMicrosOf(tally, wanted));

const usdMicrosOf = (tally: Tally, wanted: Wanted): number =>
  currenciesOf(tally, 'usd', wanted).reduce((sum, code) => sum + (tally[`${code}.usd`] ?? 0), 0);

/** Sums are kept in micros of a dollar, and shown in whole cents. */
const inCents = (usdMicros: number): number => Math.round(usdMicros / 10_000) / 100;

const transactionsOf = (tally: Tally, { currency }: Wanted): number =>
  tally[currency === undefined ? 'transactions' : `${currency}.transactions`] ?? 0;

const paidOf = (tally: Tally, { currency }: Wanted): number =>
  tally[currency === undefined ? 'paid' : `${currency}.paid`] ?? 0;
