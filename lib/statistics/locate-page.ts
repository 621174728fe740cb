import type { EpochMillis } from '../shared/time.ts';
import { hourMs } from '../shared/time.ts';
import { type ListKind, listHourCounts, type Tally } from './tally.ts';

/** A place in a list: the moment from which to read, and how many rows lie before it. */
export interface PagePosition {
  readonly from: EpochMillis;
  readonly rowsBefore: number;
}

interface CountedPeriod {
  /** `YYYY-MM` or `YYYY-MM-DD`. */
  readonly period: string;
  readonly tally: Tally;
}

const toPeriodStart = (period: string): EpochMillis =>
  Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`);

/** All rows of the list. */
export const countRows = (months: readonly CountedPeriod[], collection: ListKind): number =>
  months.reduce((sum, { tally }) => sum + (tally[collection] ?? 0), 0);

/** The month that holds the row at `skip`, or the last that begins before `settled`, when what is later may still grow. */
export function findMonth(
  months: readonly CountedPeriod[],
  collection: ListKind,
  { skip, settled: settledUntil }: { readonly skip: number; readonly settled: EpochMillis },
): { readonly month: string; readonly before: number } | undefined {
  let before = 0;
  let found: { readonly month: string; readonly before: number } | undefined;
  for (const { period, tally } of months) {
    if (before > skip || toPeriodStart(period) > settledUntil) break;
    found = { month: period, before };
    before += tally[collection] ?? 0;
  }
  return found;
}

/** The hour of a month's days that holds the row at `skip`, or the last one that began before `settled`. */
export function findHour(
  days: readonly CountedPeriod[],
  collection: ListKind,
  {
    skip,
    settled: settledUntil,
    month,
    before: start,
  }: { skip: number; settled: EpochMillis; month: string; before: number },
): PagePosition {
  let rowsBefore = start;
  let found: PagePosition = { from: toPeriodStart(month), rowsBefore };
  for (const { period, tally } of days) {
    for (const [hour, rows] of listHourCounts(tally, collection).entries()) {
      const from = toPeriodStart(period) + hour * hourMs;
      if (rowsBefore > skip || from > settledUntil) return found;
      if (rows > 0) found = { from, rowsBefore };
      rowsBefore += rows;
    }
  }
  return found;
}
