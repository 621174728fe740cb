import type { DailyStat, MonthlyStat } from '../api/stats.ts';
import { daysBetween, monthsBetween, sameDayMonthBefore } from './calendar.ts';
import { added, type Tally } from './tally.ts';

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
  return daysBetween(first, last).map((date) => {
    const month = windowTally(days, date);
    return {
      date,
      ...countsOf(days.get(date) ?? {}, wanted),
      monthlyRevenueUSD: dollarsOf(month, wanted),
      monthlyTransactions: transactionsOf(month, wanted),
      monthlyPaidTransactions: paidOf(month, wanted),
    };
  });
}

/**
 * What came in since the same day of the month before. That day itself is not in it, so that a subscription that renews on
 * the same day each month is in it once; where that month has no such day, the window begins after its last one.
 */
const windowTally = (days: Tallies, date: string): Tally =>
  daysBetween(sameDayMonthBefore(date), date)
    .slice(1)
    .reduce<Tally>((sum, day) => added(sum, days.get(day) ?? {}), {});

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

/** In whole cents; sums are kept in micros of a dollar. */
export function dollarsOf(tally: Tally, wanted: Wanted): number {
  const micros = currenciesOf(tally, 'usd', wanted).reduce((sum, code) => sum + (tally[`${code}.usd`] ?? 0), 0);
  return Math.round(micros / 10_000) / 100;
}

const transactionsOf = (tally: Tally, { currency }: Wanted): number =>
  tally[currency === undefined ? 'transactions' : `${currency}.transactions`] ?? 0;

const paidOf = (tally: Tally, { currency }: Wanted): number =>
  tally[currency === undefined ? 'paid' : `${currency}.paid`] ?? 0;
