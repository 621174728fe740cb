import { addDays } from '../foundation/calendar.ts';
import { type Movement, toMovementName } from './counter-names.ts';
import type { Counts } from './counts.ts';
import { type FigureSums, readAmount, sumCounts, sumRange, toRate } from './figure-sums.ts';
import type { FiguresAmount } from './figures-contract.ts';
import type { ChurnRow, MrrRow } from './mrr-contract.ts';

interface Interval {
  readonly first: string;
  readonly last: string;
}

export interface MovementContext {
  /** Intervals that have started, earliest first. */
  readonly intervals: readonly Interval[];
  /** Months whose sums are read instead of the sums of their days. */
  readonly wholeMonths: ReadonlySet<string>;
  readonly today: string;
  readonly amount: FiguresAmount;
  readonly toUsd: (micros: number) => number;
}

/** Sums of an interval with the running totals at its start. */
interface IntervalSums {
  readonly date: string;
  readonly counts: Counts;
  readonly openingMrr: number;
  readonly openingPaying: number;
  /** Part of the paying subscriptions whose currency lacks a rate, at the start and at the end. */
  readonly openingUnconverted: number;
  readonly unconverted: number;
  readonly mrr: number;
}

/**
 * Adds up the months and days of each interval. The ends of today count tomorrow: until then, a subscription whose paid
 * time ends today can renew.
 */
function sumIntervals(
  { days, months }: FigureSums,
  { intervals, wholeMonths, today, amount }: MovementContext,
): IntervalSums[] {
  const [first] = intervals;
  if (!first) return [];
  const countedDays = new Map([...days].map(([day, counts]) => [day, day < today ? counts : omitEnds(counts)]));
  const sumDays = (firstDay: string, lastDay: string): Counts =>
    sumRange({ days: countedDays, months }, [firstDay, lastDay], wholeMonths);
  const month = first.first.slice(0, 7);
  const earlierMonths = [...months].filter(([period]) => period < month).map(([, counts]) => counts);
  const opening = sumCounts([...earlierMonths, sumDays(`${month}-01`, addDays(first.first, -1))]);
  let mrr = computeMrrChange(opening, amount);
  let paying = computePayingChange(opening);
  let bare = opening.bare ?? 0;
  return intervals.map(({ first: date, last }) => {
    const counts = sumDays(date, last < today ? last : today);
    const start = { openingMrr: mrr, openingPaying: paying, openingUnconverted: toRate(bare, paying) };
    mrr += computeMrrChange(counts, amount);
    paying += computePayingChange(counts);
    bare += counts.bare ?? 0;
    return { date, counts, ...start, mrr, unconverted: toRate(bare, paying) };
  });
}

const endNames = /^(?:[grpq]\.lost|left|failed)$/;
const omitEnds = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => !endNames.test(name)));

const readMovement = (counts: Counts, amount: FiguresAmount, name: Movement): number =>
  readAmount(counts, amount, (sum) => toMovementName(sum, name));

function computeMrrChange(counts: Counts, amount: FiguresAmount): number {
  const read = (name: Movement): number => readMovement(counts, amount, name);
  return read('new') + read('up') + read('back') + read('rate') - read('down') - read('lost');
}

const computePayingChange = ({ began = 0, moved = 0, left = 0 }: Counts): number => began + moved - left;

/** Builds the recurring revenue at the end of each interval and its movement. */
export const buildMrrRows = (sums: FigureSums, context: MovementContext): MrrRow[] =>
  sumIntervals(sums, context).map(({ date, counts, mrr, unconverted }) => {
    const { amount, toUsd } = context;
    const read = (name: Movement): number => toUsd(readMovement(counts, amount, name));
    return {
      date,
      mrrUSD: toUsd(mrr),
      arrUSD: toUsd(12 * mrr),
      movement: {
        new: read('new'),
        expansion: read('up'),
        contraction: read('down'),
        churned: read('lost'),
        reactivated: read('back'),
        exchange: read('rate'),
      },
      unconvertedShare: unconverted,
    };
  });

/** Builds the churn of each interval. */
export const buildChurnRows = (sums: FigureSums, context: MovementContext): ChurnRow[] =>
  sumIntervals(sums, context).map(({ date, counts, openingMrr, openingPaying, openingUnconverted }) => {
    const { left = 0, failed = 0 } = counts;
    const lost = readMovement(counts, context.amount, 'lost');
    return {
      date,
      activeAtStart: openingPaying,
      churned: left,
      churnRate: toRate(left, openingPaying),
      churnedMrrUSD: context.toUsd(lost),
      revenueChurnRate: toRate(lost, openingMrr),
      voluntary: left - failed,
      involuntary: failed,
      unconvertedShare: openingUnconverted,
    };
  });
