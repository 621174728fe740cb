import type { Millis } from '../purchases/purchase.ts';
import { type Collection, hoursOf, type Tally } from './tally.ts';

const hourMs = 60 * 60 * 1000;

/** A place in a list: the moment from which to read, and how many rows lie before it. */
export interface Place {
  readonly from: Millis;
  readonly before: number;
}

interface Counted {
  /** `YYYY-MM` or `YYYY-MM-DD`. */
  readonly period: string;
  readonly tally: Tally;
}

const startOf = (period: string): Millis => Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`);

/** All rows of the list. */
export const totalOf = (months: readonly Counted[], collection: Collection): number =>
  months.reduce((sum, { tally }) => sum + (tally[collection] ?? 0), 0);

/** The month that holds the row at `skip`, or the last that begins before `settled`, when what is later may still grow. */
export function monthAt(
  months: readonly Counted[],
  collection: Collection,
  { skip, settled }: { readonly skip: number; readonly settled: Millis },
): { readonly month: string; readonly before: number } | undefined {
  let before = 0;
  let found: { readonly month: string; readonly before: number } | undefined;
  for (const { period, tally } of months) {
    if (before > skip || startOf(period) > settled) break;
    found = { month: period, before };
    before += tally[collection] ?? 0;
  }
  return found;
}

/** The hour of a month's days that holds the row at `skip`, or the last one that began before `settled`. */
export function hourAt(
  days: readonly Counted[],
  collection: Collection,
  { skip, settled, month, before: start }: { skip: number; settled: Millis; month: string; before: number },
): Place {
  let before = start;
  let found: Place = { from: startOf(month), before };
  for (const { period, tally } of days) {
    for (const [hour, rows] of hoursOf(tally, collection).entries()) {
      const from = startOf(period) + hour * hourMs;
      if (before > skip || from > settled) return found;
      if (rows > 0) found = { from, before };
      before += rows;
    }
  }
  return found;
}
