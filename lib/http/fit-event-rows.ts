import { maxResponseBytes } from '../api/limits.ts';
import type { EventSearchResult } from '../events/contract.ts';
import { truncateLists } from '../events/event.ts';

/** Shortens the lists of the rows until all rows fit into a response; `trimmed` counts the omitted rows. */
export function fitRowsToResponse(rows: readonly EventSearchResult[]): EventSearchResult[] {
  for (const maxRows of [100, 10, 2, 0]) {
    const shorter = rows.map((row) => ({ ...row, content: truncateLists(row.content, maxRows) }));
    if (Buffer.byteLength(JSON.stringify(shorter)) <= maxResponseBytes) return shorter;
  }
  return rows.map((row) => ({ ...row, content: { ...truncateLists(row.content, 0), tags: {} } }));
}
