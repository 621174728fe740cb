import { addDays, listDays } from '../foundation/calendar.ts';
import type { Platform } from '../foundation/platform.ts';
import type { BreakdownRow, StatsInterval } from './breakdown-contract.ts';
import { type ProductSum, toReasonName, toSubscriptionReasonName } from './counter-names.ts';
import { addCounts, type Counts } from './counts.ts';
import { toRate } from './figure-sums.ts';
import { listedReasons, roundToCents, toExactUsd } from './to-stats.ts';

/** Days of an interval within a range, both included. */
interface Interval {
  readonly first: string;
  readonly last: string;
}

/** Lists the intervals of a range. The first and the last one are shorter if the range contains only a part of them. */
export function listIntervals([first, last]: readonly [string, string], interval: StatsInterval): Interval[] {
  if (interval === 'range') return [{ first, last }];
  const starts = new Map<string, Interval>();
  for (const day of listDays(first, last)) {
    const key = toIntervalKey(day, interval);
    starts.set(key, { first: starts.get(key)?.first ?? day, last: day });
  }
  return [...starts.values()];
}

function toIntervalKey(day: string, interval: StatsInterval): string {
  if (interval === 'month') return day.slice(0, 7);
  if (interval === 'quarter') return `${day.slice(0, 4)}-${Math.ceil(Number(day.slice(5, 7)) / 3)}`;
  if (interval === 'day') return day;
  const daysSinceMonday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  return addDays(day, -daysSinceMonday);
}

/** The sums of an app, a platform or a product. */
export interface SumsByPeriod {
  /** Counts of the days, from the first of the month in which the range starts. */
  readonly days: ReadonlyMap<string, Counts>;
  /** Counts of all earlier months, for the running totals. */
  readonly earlierMonths: readonly Counts[];
}

interface BreakdownContext {
  readonly days: readonly [string, string];
  readonly intervals: readonly Interval[];
  /** Running totals do not change after this day. */
  readonly today: string;
}

interface RowContext extends Omit<BreakdownContext, 'days'> {
  readonly toUsd: (micros: number) => number;
}

/** Builds a row for each interval, and one for the whole range. */
export function buildBreakdown(sums: SumsByPeriod, { days, intervals, today }: BreakdownContext) {
  const [totals] = buildRows(sums, { intervals: listIntervals(days, 'range'), today, toUsd: toExactUsd });
  return { totals: totals as BreakdownRow, rows: buildRows(sums, { intervals, today, toUsd: roundToCents }) };
}

function buildRows(sums: SumsByPeriod, { intervals, today, toUsd }: RowContext): BreakdownRow[] {
  const [first] = intervals;
  if (!first) return [];
  const daysBefore = listDays(`${first.first.slice(0, 7)}-01`, addDays(first.first, -1));
  const readDay = (day: string): Counts => sums.days.get(day) ?? {};
  const earlier = [...sums.earlierMonths, ...daysBefore.map(readDay)];
  let active = sumName(earlier, 'active');
  let activeTrials = sumName(earlier, 'activeTrials');
  let unverified = sumName(earlier, 'unverified');
  return intervals.map((interval) => {
    const days = listDays(interval.first, interval.last);
    const counts = days.map(readDay).reduce<Counts>((sum, day) => addCounts(sum, day), {});
    const pastDays = days.filter((day) => day <= today).map(readDay);
    active += sumName(pastDays, 'active');
    activeTrials += sumName(pastDays, 'activeTrials');
    unverified += sumName(pastDays, 'unverified');
    return {
      date: interval.first,
      enddate: interval.last,
      ...toCounts(counts, toUsd),
      activeSubscriptions: active,
      activeTrials,
      unverifiedSubscriptions: unverified,
    };
  });
}

const sumName = (countsByDay: readonly Counts[], name: ProductSum): number =>
  countsByDay.reduce((sum, counts) => sum + (counts[name] ?? 0), 0);

type RunningTotals = 'activeSubscriptions' | 'activeTrials' | 'unverifiedSubscriptions';

function toCounts(counts: Counts, toUsd: RowContext['toUsd']): Omit<BreakdownRow, 'date' | 'enddate' | RunningTotals> {
  const read = (name: ProductSum): number => counts[name] ?? 0;
  const amounts = Object.entries(counts).filter(([name]) => name.endsWith('.micros'));
  return {
    amountUSD: toUsd(read('usd')),
    amountMicros: Object.fromEntries(amounts.map(([name, micros]) => [name.slice(0, -'.micros'.length), micros])),
    numTransactions: read('transactions'),
    numPaidTransactions: read('paid'),
    unconvertedShare: toRate(read('unrated'), read('paid')),
    notifications: Object.fromEntries(listedReasons.map((reason) => [reason, counts[toReasonName(reason)] ?? 0])),
    subscriptionNotifications: Object.fromEntries(
      listedReasons.map((reason) => [reason, counts[toSubscriptionReasonName(reason)] ?? 0]),
    ),
    trialsStarted: read('trials.started'),
    trialsConverted: read('trials.converted'),
    trialsEnded: read('trials.ended'),
    startedTrials: { converted: read('cohort.converted'), ended: read('cohort.ended') },
  };
}

/** Picks the sums of a platform from the counts of an app, and removes the platform from their names. */
export function pickPlatformSums(counts: Counts, platform: Platform): Counts {
  const prefix = `${platform}/`;
  const sums = Object.entries(counts).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(sums.map(([name, value]) => [name.slice(prefix.length), value]));
}

/**
 * Picks the sums of all platforms from the counts of an app. Only the platforms have active subscriptions and trials.
 */
export function pickAppSums(counts: Counts): Counts {
  const sums = new Map<string, number>();
  const add = (name: string, value: number) => sums.set(name, (sums.get(name) ?? 0) + value);
  for (const [name, value] of Object.entries(counts)) {
    const platformSum = name.split('/')[1];
    if (platformSum === undefined) add(/\.(usd|unrated)$/.exec(name)?.[1] ?? name, value);
    else if (subscriptionSums.has(platformSum)) add(platformSum, value);
  }
  return Object.fromEntries(sums);
}

const subscriptionSums: ReadonlySet<string> = new Set<ProductSum>([
  ...(['active', 'activeTrials', 'unverified', 'trials.started', 'trials.converted', 'trials.ended'] as const),
  ...(['cohort.converted', 'cohort.ended'] as const),
]);
