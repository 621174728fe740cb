import { pMapIterable } from 'p-map';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import * as keys from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { StoredItem } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toItemImage } from './purchase-item.ts';

/** Maximum number of partitions that are read concurrently. */
const concurrency = 25;

export function createAppItemRepository(table: Table): AppItemRepository {
  const readPartition = async ({ pk }: Item): Promise<Item[]> => await table.query({ partition: String(pk) });
  return {
    async findItems(itemKeys) {
      const unique = new Map(itemKeys.map((key) => [`${key.pk}\n${key.sk}`, key]));
      return (await table.batchGet([...unique.values()])).map(toStoredItem);
    },
    async *scanCountableItems(appName, range) {
      for await (const entries of scanShards(table, buildListRange(appName, 'P'))) {
        const partitions = pMapIterable(entries, readPartition, { concurrency });
        for await (const items of partitions) yield items.map(toStoredItem);
      }
      const between = keys.timestampRange(range);
      for await (const entries of scanShards(table, { ...buildListRange(appName, 'C'), between })) {
        yield (await table.batchGet(entries.map(keys.toKey))).map(toStoredItem);
      }
      const events = { partitions: keys.eventPartitions(appName), between: keys.toEventRange(between) };
      for await (const items of scanShards(table, events)) yield items.map(toStoredItem);
    },
    async *scanPurchaseIds(appName, updatedSince) {
      const range =
        updatedSince === undefined ? buildListRange(appName, 'P') : buildUpdatedRange(appName, updatedSince);
      for await (const entries of scanShards(table, range)) {
        yield entries.map(({ pk }) => keys.parsePurchasePartition(String(pk)));
      }
    },
    async *scanUsernames(appName) {
      for await (const entries of scanShards(table, buildListRange(appName, 'C'))) {
        yield entries.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
      }
    },
    async *scanIdPages(appName, list, { after = keys.allTimestamps[0], pageSize } = {}) {
      const isPurchases = list === 'purchases';
      const parseId = isPurchases ? keys.parsePurchasePartition : keys.parseCustomerPartition;
      const getPosition = (entry: Item): string => String(entry[keys.indexes.byCreated.sk]);
      const between = [after, keys.allTimestamps[1]] as const;
      const range = { ...buildListRange(appName, isPurchases ? 'P' : 'C'), between };
      for await (const page of scanShards(table, range, pageSize)) {
        // `between` includes both bounds.
        const entries = page.filter((entry) => getPosition(entry) !== after);
        const last = entries.at(-1);
        if (last) yield { ids: entries.map(({ pk }) => parseId(String(pk))), position: getPosition(last) };
      }
    },
    async findOldestEventDate(appName) {
      const between = keys.toEventRange(keys.allTimestamps);
      const oldest = await Promise.all(
        keys.eventPartitions(appName).map((partition) => table.query({ partition, between, limit: 1 })),
      );
      const dates = oldest.flat().map(({ sk }) => keys.parseKeyTimestamp(String(sk).slice(keys.eventPrefix.length)));
      return dates.sort((a, b) => a - b)[0];
    },
  };
}

const buildListRange = (appName: string, collection: 'P' | 'C') =>
  ({ partitions: keys.listPartitions(appName, collection), index: 'byCreated', between: keys.allTimestamps }) as const;

const buildUpdatedRange = (appName: string, startdate: EpochMillis) =>
  ({
    partitions: keys.updatedPartitions(appName),
    index: 'byKey',
    between: keys.timestampRange({ startdate }),
  }) as const;

function toStoredItem(item: Item): StoredItem {
  const { kind } = keys.parseItemKey(keys.toKey(item));
  return { kind, item: toItemImage(kind, item) };
}
