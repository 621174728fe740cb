import type { EventSearchResult } from '../api/event-records.ts';
import { maxResponseBytes } from '../http/response-size.ts';
import { truncateLists } from './limit-event-size.ts';

/** The rows in the size of an answer: when they are too large, their lists are shortened, and say so. */
export function fitRowsToResponse(rows: readonly EventSearchResult[]): EventSearchResult[] {
  for (const maxRows of [100, 10, 2, 0]) {
    const shorter = rows.map((row) => ({ ...row, content: truncateLists(row.content, maxRows) }));
    if (Buffer.byteLength(JSON.stringify(shorter)) <= maxResponseBytes) return shorter;
  }
  return rows.map((row) => ({ ...row, content: { ...truncateLists(row.content, 0), tags: {} } }));
}
