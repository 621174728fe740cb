import type { Millis } from '../purchases/purchase.ts';
import { entriesOf } from './index-entries.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Partitions that are read side by side. */
const parallel = 25;

/**
 * Everything of an application that tallies count, in portions: all purchases with their transactions and notifications,
 * as a refund counts on another day than its purchase, and the customers and events that began between two moments.
 */
export async function* countedItems(table: Table, app: string, moments: readonly [string, string]) {
  for await (const entries of entriesOf(table, { partition: keys.listPartition(app, 'P'), index: 'byCreated' })) {
    for (let start = 0; start < entries.length; start += parallel) {
      const partitions = entries.slice(start, start + parallel).map(({ pk }) => String(pk));
      const items = await Promise.all(partitions.map((partition) => table.query({ partition })));
      yield items.flat();
    }
  }
  for (const partition of [keys.listPartition(app, 'C'), ...keys.eventPartitions(app)]) {
    for await (const entries of entriesOf(table, { partition, index: 'byCreated', between: moments })) {
      yield await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    }
  }
}

/** The names of all customers of an application, in portions. */
export async function* customersIn(table: Table, app: string) {
  for await (const entries of entriesOf(table, { partition: keys.listPartition(app, 'C'), index: 'byCreated' })) {
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
