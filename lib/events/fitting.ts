import { largestAnswerBytes } from '../api/answer-size.ts';
import type { EventSearchResult } from '../api/event-records.ts';
import { shortened } from './bounds.ts';

/** The rows in the size of an answer: when they are too large, their lists are shortened, and say so. */
export function fittingRows(rows: readonly EventSearchResult[]): EventSearchResult[] {
  for (const most of [100, 10, 2, 0]) {
    const shorter = rows.map((row) => ({ ...row, content: shortened(row.content, most) }));
    if (Buffer.byteLength(JSON.stringify(shorter)) <= largestAnswerBytes) return shorter;
  }
  return rows.map((row) => ({ ...row, content: { ...shortened(row.content, 0), tags: {} } }));
}
