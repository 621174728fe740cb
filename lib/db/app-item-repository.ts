import { pMapIterable } from 'p-map';
import type { StoredItem } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import { scanIndex } from './scan-index.ts';
import type { Item, Table } from './table.ts';

/** Reads over all items of an app, for operators and the statistics. Every scan yields batches. */
export interface AppItemRepository {
  /**
   * Scans the items that statistics count: all purchases with their transactions and notifications, and the customers and
   * events created in the range. Purchases are not limited, because a refund counts on another day than its purchase.
   */
  scanCountableItems(appName: string, range: CreatedRange): AsyncIterable<StoredItem[]>;
  /** Scans the ids of all purchases. */
  scanPurchaseIds(appName: string): AsyncIterable<string[]>;
  /** Scans the usernames of all customers. */
  scanUsernames(appName: string): AsyncIterable<string[]>;
  /** Returns the date of the oldest event within the retention. Undefined if the app has no events. */
  findOldestEventDate(appName: string): Promise<EpochMillis | undefined>;
}

/** Range from `startdate` (included) to `enddate` (excluded). */
interface CreatedRange {
  readonly startdate: EpochMillis;
  readonly enddate: EpochMillis;
}

/** Maximum number of partitions that are read concurrently. */
const concurrency = 25;

export function createAppItemRepository(table: Table): AppItemRepository {
  const readPartition = async ({ pk }: Item): Promise<Item[]> => await table.query({ partition: String(pk) });
  return {
    async *scanCountableItems(appName, range) {
      for await (const entries of scanIndex(table, buildListRange(appName, 'P'))) {
        const partitions = pMapIterable(entries, readPartition, { concurrency });
        for await (const items of partitions) yield items.map(toStoredItem);
      }
      const between = keys.timestampRange(range);
      for (const partition of [keys.listPartition(appName, 'C'), ...keys.earlierEventPartitions(appName)]) {
        for await (const entries of scanIndex(table, { partition, index: 'byCreated', between })) {
          yield (await table.batchGet(entries.map(keys.toKey))).map(toStoredItem);
        }
      }
      for (const partition of keys.eventPartitions(appName)) {
        const events = scanIndex(table, { partition, between: keys.toEventRange(between) });
        for await (const items of events) yield items.map(toStoredItem);
      }
    },
    async *scanPurchaseIds(appName) {
      for await (const entries of scanIndex(table, buildListRange(appName, 'P'))) {
        yield entries.map(({ pk }) => keys.parsePurchasePartition(String(pk)));
      }
    },
    async *scanUsernames(appName) {
      for await (const entries of scanIndex(table, buildListRange(appName, 'C'))) {
        yield entries.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
      }
    },
    async findOldestEventDate(appName) {
      const between = keys.toEventRange(keys.allTimestamps);
      const oldest = await Promise.all([
        ...keys.eventPartitions(appName).map((partition) => table.query({ partition, between, limit: 1 })),
        ...keys
          .earlierEventPartitions(appName)
          .map((partition) => table.query({ partition, index: 'byCreated', limit: 1 })),
      ]);
      const dates = oldest
        .flat()
        .map(({ sk, createdSk }) => keys.parseKeyTimestamp(String(createdSk ?? sk).replace(keys.eventPrefix, '')));
      return dates.sort((a, b) => a - b)[0];
    },
  };
}

const buildListRange = (appName: string, collection: 'P' | 'C') =>
  ({ partition: keys.listPartition(appName, collection), index: 'byCreated' }) as const;

const toStoredItem = (item: Item): StoredItem => ({ kind: keys.parseItemKey(keys.toKey(item)).kind, item });
