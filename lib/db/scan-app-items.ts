import type { Millis } from '../purchases/purchase.ts';
import { scanIndex } from './scan-index.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Partitions that are read side by side. */
const concurrency = 25;

/**
 * Everything of an application that tallies count, in portions: all purchases with their transactions and notifications,
 * as a refund counts on another day than its purchase, and the customers and events that began between two moments.
 */
export async function* scanCountableItems(table: Table, app: string, between: readonly [string, string]) {
  for await (const entries of scanIndex(table, { partition: keys.listPartition(app, 'P'), index: 'byCreated' })) {
    for (let start = 0; start < entries.length; start += concurrency) {
      const partitions = entries.slice(start, start + concurrency).map(({ pk }) => String(pk));
      const items = await Promise.all(partitions.map((partition) => table.query({ partition })));
      yield items.flat();
    }
  }
  for (const partition of [keys.listPartition(app, 'C'), ...keys.eventPartitions(app)]) {
    for await (const entries of scanIndex(table, { partition, index: 'byCreated', between })) {
      yield await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    }
  }
}

/** The names of all customers of an application, in portions. */
export async function* scanUsernames(table: Table, app: string) {
  for await (const entries of scanIndex(table, { partition: keys.listPartition(app, 'C'), index: 'byCreated' })) {
    yield entries.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
  }
}

/** When the oldest event that is left was recorded; undefined when there is none. */
export async function findOldestEventDate(table: Table, app: string): Promise<Millis | undefined> {
  const oldest = await Promise.all(
    keys.eventPartitions(app).map((partition) => table.query({ partition, index: 'byCreated', limit: 1 })),
  );
  return oldest
    .flat()
    .map(({ createdSk }) => keys.parseKeyTimestamp(String(createdSk)))
    .sort((a, b) => a - b)[0];
}
