import { allTimestamps, indexes } from './keys.ts';
import type { Item, Table } from './table.ts';

interface IndexRange {
  readonly partition: string;
  readonly index: keyof typeof indexes;
  /** The first and the last sort key, which starts with a moment; all, where there is none. */
  readonly between?: readonly [string, string];
}

const pageSize = 1_000;

/** The entries of a list in an index, in portions: also of one that is too long for one answer. */
export async function* scanIndex(
  table: Table,
  { partition, index, between: [from, until] = allTimestamps }: IndexRange,
) {
  const { sk } = indexes[index];
  let last = from;
  for (;;) {
    const page: Item[] = await table.query({ partition, index, between: [last, until], limit: pageSize });
    // A query knows only bounds that are included: the last entry comes again and is dropped.
    const fresh = page.filter((entry) => entry[sk] !== last);
    if (fresh.length > 0) yield fresh;
    if (page.length < pageSize) return;
    last = String(fresh.at(-1)?.[sk]);
  }
}
