interface ListEntry {
  readonly sortKey: string;
}

/** A list that is read backwards from a sort key. */
interface EntryList<E extends ListEntry, T> {
  /** Reads up to `limit` entries with a lower sort key, newest first. */
  readBefore(position: string | undefined, limit: number): Promise<readonly E[]>;
  /** Returns a row for each entry. Undefined for an entry that the page leaves out. */
  load(entries: readonly E[]): Promise<readonly (T | undefined)[]>;
}

const scanBatchSize = 200;

/**
 * Reads a page of `limit` rows. Reads at most `maxScanned` entries, so a page can have fewer rows and still have a
 * position for the next page.
 */
export async function readCursorPage<E extends ListEntry, T>(
  list: EntryList<E, T>,
  { limit, cursor, maxScanned }: { limit: number; cursor?: string | undefined; maxScanned: number },
): Promise<CursorPage<T>> {
  const rows: T[] = [];
  let position = cursor;
  for (let scanned = 0; scanned < maxScanned; ) {
    // Without a filter every entry is a row, so the first read is for `limit` entries only.
    const batchSize = scanned === 0 ? limit : scanBatchSize;
    const entries = await list.readBefore(position, batchSize);
    const loaded = await list.load(entries);
    const isLastBatch = entries.length < batchSize;
    for (const [index, { sortKey }] of entries.entries()) {
      const row = loaded[index];
      position = sortKey;
      if (row !== undefined) rows.push(row);
      if (rows.length === limit) {
        const isExhausted = isLastBatch && index === entries.length - 1;
        return { rows, ...(!isExhausted && { next: sortKey }) };
      }
    }
    if (isLastBatch) return { rows };
    scanned += entries.length;
  }
  return { rows, ...(position !== undefined && { next: position }) };
}

/** A page of a list with the position from which the next page continues. */
export interface CursorPage<T> {
  readonly rows: readonly T[];
  /** Sort key of the last entry that was read. Undefined at the end of the list. */
  readonly next?: string;
}
