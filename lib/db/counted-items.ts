import type { Millis } from '../purchases/purchase.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

/** Index entries that are read at a time, and partitions that are read side by side. */
const pageSize = 1_000;
const parallel = 25;

/**
 * Everything of an application that tallies count, in portions: all purchases with their transactions and notifications,
 * as a refund counts on another day than its purchase, and the customers and events that began between two moments.
 */
export async function* countedItems(table: Table, app: string, moments: readonly [string, string]) {
  for await (const entries of entriesOf(table, keys.listPartition(app, 'P'), ['0', '9'])) {
    for (let start = 0; start < entries.length; start += parallel) {
      const partitions = entries.slice(start, start + parallel).map(({ pk }) => String(pk));
      const items = await Promise.all(partitions.map((partition) => table.query({ partition })));
      yield items.flat();
    }
  }
  for (const partition of [keys.listPartition(app, 'C'), ...keys.eventPartitions(app)]) {
    for await (const entries of entriesOf(table, partition, moments)) {
      yield await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    }
  }
}

/** The names of all customers of an application, in portions. */
export async function* customersIn(table: Table, app: string) {
  for await (const entries of entriesOf(table, keys.listPartition(app, 'C'), ['0', '9'])) {
    yield entries.map(({ pk }) => keys.usernameOf(String(pk)));
  }
}

/** When the oldest event that is left was recorded; undefined when there is none. */
export async function oldestEvent(table: Table, app: string): Promise<Millis | undefined> {
  const oldest = await Promise.all(
    keys.eventPartitions(app).map((partition) => table.query({ partition, index: 'byCreated', limit: 1 })),
  );
  return oldest
    .flat()
    .map(({ createdSk }) => keys.momentOf(String(createdSk)))
    .sort((a, b) => a - b)[0];
}

/** The entries of a list between two sort keys, in portions. */
async function* entriesOf(table: Table, partition: string, [from, until]: readonly [string, string]) {
  let last = from;
  for (;;) {
    const page: Item[] = await table.query({ partition, index: 'byCreated', between: [last, until], limit: pageSize });
    // A query knows only bounds that are included: the last entry comes again and is dropped.
    const fresh = page.filter(({ createdSk }) => createdSk !== last);
    if (fresh.length > 0) yield fresh;
    if (page.length < pageSize) return;
    last = String(fresh.at(-1)?.createdSk);
  }
}
