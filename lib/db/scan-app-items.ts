import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import { scanIndex } from './scan-index.ts';
import type { Table } from './table.ts';

/** Partitions that are read side by side. */
const concurrency = 25;

/**
 * Everything of an application that tallies count, in portions: all purchases with their transactions and notifications,
 * as a refund counts on another day than its purchase, and the customers and events that began between two moments.
 */
export async function* scanCountableItems(table: Table, appName: string, between: readonly [string, string]) {
  for await (const entries of scanIndex(table, { partition: keys.listPartition(appName, 'P'), index: 'byCreated' })) {
    for (let start = 0; start < entries.length; start += concurrency) {
      const partitions = entries.slice(start, start + concurrency).map(({ pk }) => String(pk));
      const items = await Promise.all(partitions.map((partition) => table.query({ partition })));
      yield items.flat();
    }
  }
  for (const partition of [keys.listPartition(appName, 'C'), ...keys.eventPartitions(appName)]) {
    for await (const entries of scanIndex(table, { partition, index: 'byCreated', between })) {
      yield await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    }
  }
}

/** The names of all customers of an application, in portions. */
export async function* scanUsernames(table: Table, appName: string) {
  for await (const entries of scanIndex(table, { partition: keys.listPartition(appName, 'C'), index: 'byCreated' })) {
    yield entries.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
  }
}

/** When the oldest event that is left was recorded; undefined when there is none. */
export async function findOldestEventDate(table: Table, appName: string): Promise<EpochMillis | undefined> {
  const oldest = await Promise.all(
    keys.eventPartitions(appName).map((partition) => table.query({ partition, index: 'byCreated', limit: 1 })),
  );
  return oldest
    .flat()
    .map(({ createdSk }) => keys.parseKeyTimestamp(String(createdSk)))
    .sort((a, b) => a - b)[0];
}
