import type { ListKind } from '../foundation/keys.ts';
import { type EpochMillis, hourMs } from '../foundation/time.ts';
import { type Counts, countMonthRows, listHourCounts } from '../statistics/counts.ts';

/** A position in a list: the creation time to start reading from, and the number of rows created earlier. */
export interface PagePosition {
  readonly from: EpochMillis;
  readonly rowsBefore: number;
}

interface PeriodCounts {
  /** `YYYY-MM` or `YYYY-MM-DD`. */
  readonly period: string;
  readonly counts: Counts;
}

interface RowTarget {
  /** Number of rows before the target row. */
  readonly skip: number;
  /** Counts of rows created until this time are final; the result never starts later. */
  readonly settledUntil: EpochMillis;
}

interface MonthPosition {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Number of rows created before the month. */
  readonly rowsBefore: number;
}

const toPeriodStart = (period: string): EpochMillis =>
  Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`);

/** Counts the rows of the whole list. */
export const countRows = (months: readonly PeriodCounts[], list: ListKind): number =>
  months.reduce((sum, { counts }) => sum + countMonthRows(counts, list), 0);

/** Finds the month of the target row, or the last month that starts before `settledUntil`. */
export function findMonth(
  months: readonly PeriodCounts[],
  list: ListKind,
  { skip, settledUntil }: RowTarget,
): MonthPosition | undefined {
  let rowsBefore = 0;
  let position: MonthPosition | undefined;
  for (const { period, counts } of months) {
    if (rowsBefore > skip || toPeriodStart(period) > settledUntil) break;
    position = { month: period, rowsBefore };
    rowsBefore += countMonthRows(counts, list);
  }
  return position;
}

/** Finds the hour of the target row in the days of a month, or the last hour that starts before `settledUntil`. */
export function findHour(
  days: readonly PeriodCounts[],
  list: ListKind,
  { skip, settledUntil, month, rowsBefore: rowsBeforeMonth }: RowTarget & MonthPosition,
): PagePosition {
  let rowsBefore = rowsBeforeMonth;
  let position: PagePosition = { from: toPeriodStart(month), rowsBefore };
  for (const { period, counts } of days) {
    for (const [hour, rows] of listHourCounts(counts, list).entries()) {
      const from = toPeriodStart(period) + hour * hourMs;
      if (rowsBefore > skip || from > settledUntil) return position;
      if (rows > 0) position = { from, rowsBefore };
      rowsBefore += rows;
    }
  }
  return position;
}
