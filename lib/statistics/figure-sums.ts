import type { FiguresAmount, ProceedsSource } from '../api/figures.ts';
import type { Platform } from '../shared/platform.ts';
import type { Counts } from './counts.ts';
import { paymentNames } from './figure-names.ts';

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

/** Reads an amount of the sums: `toName` returns the name for the prefix of an amount. */
export function readAmount(counts: Counts, amount: FiguresAmount, toName: (prefix: string) => string): number {
  const read = (prefix: string): number => counts[toName(prefix)] ?? 0;
  if (amount === 'proceeds') return read('p');
  return amount === 'before_refunds' ? read('g') : read('g') - read('r');
}

/** Adds up sums of several segments. */
export const mergeSums = (segment: FigureSegment, all: readonly FigureSums[]): FigureSums => ({
  segment,
  days: mergePeriods(all.map(({ days }) => days)),
  months: mergePeriods(all.map(({ months }) => months)),
});

function mergePeriods(all: readonly ReadonlyMap<string, Counts>[]): ReadonlyMap<string, Counts> {
  const merged = new Map<string, Record<string, number>>();
  for (const [period, counts] of all.flatMap((periods) => [...periods])) {
    const totals = merged.get(period) ?? {};
    for (const name of Object.keys(counts)) totals[name] = (totals[name] ?? 0) + (counts[name] ?? 0);
    merged.set(period, totals);
  }
  return merged;
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

/** Adds up the counts of payments. */
const sumPayments = (all: readonly FigureSums[]): Counts =>
  sumCounts(
    all
      .flatMap(({ days, months }) => [...days.values(), ...months.values()])
      .map((counts) => Object.fromEntries(paymentNames.map((name) => [name, counts[name] ?? 0]))),
  );

/** Returns the part of the payments whose currency has no rate: amounts in US dollars lack them. */
export function findUnconvertedShare(all: readonly FigureSums[]): number {
  const { paid = 0, unrated = 0 } = sumPayments(all);
  return toRate(unrated, paid);
}

/** Divides and rounds to six digits. Returns 0 without a positive whole. */
export const toRate = (part: number, whole: number): number =>
  whole > 0 ? Math.round((part / whole) * 1_000_000) / 1_000_000 : 0;

/** Returns the source of the proceeds of sums. Undefined without proceeds. */
export function findProceedsSource(all: readonly FigureSums[]): ProceedsSource | undefined {
  let [proceeds, reported] = [0, 0];
  const { paid = 0, taxed = 0 } = sumPayments(all);
  for (const { days, months } of all) {
    for (const counts of [...days.values(), ...months.values()]) {
      for (const [name, value] of Object.entries(counts)) {
        if (/^p\.(new|back)$|:p\d{1,5}$/.test(name)) proceeds += value;
        if (/^q\.(new|back)$|:q\d{1,5}$/.test(name)) reported += value;
      }
    }
  }
  if (proceeds === 0) return undefined;
  if (reported === 0) return taxed > 0 && taxed === paid ? 'table' : 'estimated';
  return reported === proceeds ? 'store' : 'mixed';
}

/** Adds up the counts of many periods. Unlike `addCounts`, keeps zeros and does not sort. */
export function sumCounts(all: Iterable<Counts>): Counts {
  const totals: Record<string, number> = {};
  for (const counts of all) {
    for (const name of Object.keys(counts)) totals[name] = (totals[name] ?? 0) + (counts[name] ?? 0);
  }
  return totals;
}
