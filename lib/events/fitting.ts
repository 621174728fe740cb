import type { EventSearchResult } from '../api/event-records.ts';
import { shortened } from './bounds.ts';

/** An answer of a function holds at most 6 MB. */
const largestAnswerBytes = 5_000_000;

/** The rows in the size of an answer: when they are too large, their lists are shortened, and say so. */
export function fittingRows(rows: readonly EventSearchResult[]): EventSearchResult[] {
  for (const most of [100, 10, 2, 0]) {
    const shorter = rows.map((row) => ({ ...row, content: shortened(row.content, most) }));
    if (Buffer.byteLength(JSON.stringify(shorter)) <= largestAnswerBytes) return shorter;
  }
  return rows.map((row) => ({ ...row, content: { ...shortened(row.content, 0), tags: {} } }));
}
