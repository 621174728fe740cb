import { type Key, timestampRange, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { RowSearch } from '../foundation/list-page.ts';
import { compareSortKeys, queryShards } from '../foundation/merge-shards.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Item, Table } from '../foundation/table.ts';

export interface SearchedList<Row> {
  readonly table: Table;
  readonly appName: string;
  readonly collection: 'transactions' | 'customers';
  /** Returns undefined for an item that the page leaves out. */
  readonly parseItem: (item: Item) => Row | Promise<Row | undefined>;
}

interface CreatedEntry {
  readonly sortKey: string;
  readonly key: Key;
}

/**
 * Finds the rows of a list that match, in the order of their creation. Reads the index `byCreated` and the items of its
 * entries, at most `maxScanned`, so that the cost of a page does not grow with the list.
 */
export async function findRows<Row>(
  { table, appName, collection, parseItem }: SearchedList<Row>,
  { limit, cursor, order, maxScanned, matches, ...range }: RowSearch<Row>,
): Promise<CursorPage<Row>> {
  const newestFirst = order === 'newest';
  const readBefore = async (position: string | undefined, count: number): Promise<CreatedEntry[]> => {
    const [first, last] = timestampRange(range, newestFirst ? position : undefined);
    // A sort key that follows the position directly.
    const from = !newestFirst && position !== undefined && position >= first ? `${position}\0` : first;
    if (from >= last) return [];
    const partitions = keys.createdLists[collection].partitions(appName);
    const entries = await queryShards(
      table,
      { partitions, index: 'byCreated', between: [from, last], newestFirst },
      count + 1,
    );
    return entries
      .map((entry) => ({ sortKey: String(entry.createdSk), key: toKey(entry) }))
      .filter(({ sortKey }) => sortKey !== position && compareSortKeys(sortKey, last) < 0)
      .slice(0, count);
  };
  const load = async (entries: readonly CreatedEntry[]): Promise<(Row | undefined)[]> => {
    // An item that moves during a query can have two entries. The later one in the order of the list has its new place.
    const lastEntries = new Map(entries.map((entry) => [toText(entry.key), entry]));
    const itemKeys = [...lastEntries.values()].map(({ key }) => key);
    const items = await table.batchGet(itemKeys, { isEventuallyConsistent: true });
    const byEntry = new Map(items.map((item) => [lastEntries.get(toText(toKey(item))), item]));
    return await Promise.all(
      entries.map(async (entry) => {
        const item = byEntry.get(entry);
        const row = item && (await parseItem(item));
        return row !== undefined && (await matches(row)) ? row : undefined;
      }),
    );
  };
  return await readCursorPage({ readBefore, load }, { limit, cursor, maxScanned });
}

const toText = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
