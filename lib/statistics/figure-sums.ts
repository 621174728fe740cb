import { listDays, listMonths } from '../foundation/calendar.ts';
import type { Platform } from '../foundation/platform.ts';
import { type FigureAmount, type RevenueSum, toRevenueName } from './counter-names.ts';
import { type Counts, listMergedSums } from './counts.ts';
import type { FiguresAmount, ProceedsSource } from './figures-contract.ts';

/** The value of a dimension that figures belong to. Empty for the whole app. */
export interface FigureSegment {
  readonly platform?: Platform;
  readonly productId?: string;
  readonly country?: string;
  readonly entitlement?: string;
}

/** The sums of a segment by day (`YYYY-MM-DD`) and month (`YYYY-MM`). */
export interface FigureSums {
  readonly segment: FigureSegment;
  readonly days: ReadonlyMap<string, Counts>;
  readonly months: ReadonlyMap<string, Counts>;
}

/** Reads an amount of the sums: `toName` returns the name of the sum of an amount. */
export function readAmount(counts: Counts, amount: FiguresAmount, toName: (amount: FigureAmount) => string): number {
  const read = (sum: FigureAmount): number => counts[toName(sum)] ?? 0;
  if (amount === 'proceeds') return read('proceeds');
  return amount === 'before_refunds' ? read('gross') : read('gross') - read('refunded');
}

/**
 * Adds up sums of several segments. `isMerged` tells whether they contain another cell, so that a move from it does not
 * count.
 */
export function mergeSums(
  segment: FigureSegment,
  all: readonly Omit<FigureSums, 'segment'>[],
  isMerged: (cellName: string) => boolean = () => false,
): FigureSums {
  const merge = (kind: 'days' | 'months'): ReadonlyMap<string, Counts> => {
    const merged = new Map<string, Record<string, number>>();
    for (const sums of all) {
      for (const [period, counts] of sums[kind]) {
        const totals = merged.get(period) ?? {};
        for (const [name, value] of listMergedSums(counts, isMerged)) totals[name] = (totals[name] ?? 0) + value;
        merged.set(period, totals);
      }
    }
    return merged;
  };
  return { segment, days: merge('days'), months: merge('months') };
}

/** Splits sums whose names have a prefix, such as `store_a/g.new`, by the prefix. Sorted by prefix. */
export function splitByPrefix({
  days,
  months,
}: Omit<FigureSums, 'segment'>): ReadonlyMap<string, Omit<FigureSums, 'segment'>> {
  const parts = new Map<string, { days: Map<string, Counts>; months: Map<string, Counts> }>();
  for (const kind of ['days', 'months'] as const) {
    for (const [period, counts] of kind === 'days' ? days : months) {
      for (const [prefix, sums] of splitCounts(counts)) {
        const part = parts.get(prefix) ?? { days: new Map(), months: new Map() };
        part[kind].set(period, sums);
        parts.set(prefix, part);
      }
    }
  }
  return new Map([...parts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function splitCounts(counts: Counts): ReadonlyMap<string, Counts> {
  const parts = new Map<string, Record<string, number>>();
  for (const [name, value] of Object.entries(counts)) {
    const slash = name.indexOf('/');
    const part = parts.get(name.slice(0, slash)) ?? {};
    part[name.slice(slash + 1)] = value;
    parts.set(name.slice(0, slash), part);
  }
  return parts;
}

interface PaymentSummary {
  /** Part of the payments whose currency lacks a rate: amounts in US dollars lack them. */
  readonly unconvertedShare: number;
  /** Undefined without proceeds. */
  readonly proceedsSource: ProceedsSource | undefined;
}

/** Summarizes the payments of sums. */
export const summarizePayments = ({ days, months }: FigureSums): PaymentSummary =>
  summarizeCounts(sumCounts([...days.values(), ...months.values()]));

/** Summarizes the payments of counts. */
export function summarizeCounts(counts: Counts): PaymentSummary {
  const read = (sum: RevenueSum): number => counts[toRevenueName('usd', sum)] ?? 0;
  return {
    unconvertedShare: toRate(counts.unrated ?? 0, counts.paid ?? 0),
    proceedsSource: findProceedsSource(counts, read('proceeds'), read('reported')),
  };
}

/** Divides and rounds to six digits. Returns 0 without a positive whole. */
export const toRate = (part: number, whole: number): number =>
  whole > 0 ? Math.round((part / whole) * 1_000_000) / 1_000_000 : 0;

function findProceedsSource(
  { paid = 0, taxed = 0 }: Counts,
  proceeds: number,
  reported: number,
): ProceedsSource | undefined {
  if (proceeds === 0) return undefined;
  if (reported === 0) return taxed > 0 && taxed === paid ? 'table' : 'estimated';
  return reported === proceeds ? 'store' : 'mixed';
}

/** Adds up the days of a range. For `wholeMonths`, the sums of the month are read instead of its days. */
export function sumRange(
  { days, months }: Pick<FigureSums, 'days' | 'months'>,
  [first, last]: readonly [string, string],
  wholeMonths: ReadonlySet<string>,
): Counts {
  const otherDays = listDays(first, last).filter((day) => !wholeMonths.has(day.slice(0, 7)));
  const whole = listMonths(first.slice(0, 7), last.slice(0, 7)).filter((month) => wholeMonths.has(month));
  return sumCounts([...otherDays.map((day) => days.get(day) ?? {}), ...whole.map((month) => months.get(month) ?? {})]);
}

/** Adds up the counts of many periods. Unlike `addCounts`, keeps zeros and does not sort. */
export function sumCounts(all: Iterable<Counts>): Counts {
  const totals: Record<string, number> = {};
  for (const counts of all) {
    for (const name of Object.keys(counts)) totals[name] = (totals[name] ?? 0) + (counts[name] ?? 0);
  }
  return totals;
}
