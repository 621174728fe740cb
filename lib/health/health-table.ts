import { allTimestamps, parseKeyTimestamp } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { duePartitions, dueSortKeyLimit } from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';

/** The due items that no worker has enqueued. */
interface LateItems {
  /** At most the limit of the query. */
  readonly count: number;
  /** Due time of the oldest item. */
  readonly oldestDueAt: EpochMillis;
}

interface NewPurchase {
  readonly purchaseId: string;
  readonly createdAt: EpochMillis;
}

/** Returns the items that were due before a time. Undefined without such items. Counts at most `limit`. */
export async function findLateItems(
  { table }: Service,
  before: EpochMillis,
  limit: number,
): Promise<LateItems | undefined> {
  const shards = await Promise.all(
    duePartitions.map(
      async (partition) => await table.query({ partition, index: 'due', before: dueSortKeyLimit(before), limit }),
    ),
  );
  const dueTimes = shards.flat().map(({ dueSk }) => parseKeyTimestamp(String(dueSk)));
  if (dueTimes.length === 0) return undefined;
  return { count: Math.min(dueTimes.length, limit), oldestDueAt: Math.min(...dueTimes) };
}

/** Lists the purchases of the app that were recorded last, the latest first. */
export async function listLatestPurchases({ table }: Service, appName: string, limit: number): Promise<NewPurchase[]> {
  const partitions = keys.createdLists.purchases.partitions(appName);
  const range = { partitions, index: 'byCreated', between: allTimestamps, newestFirst: true } as const;
  const entries = await queryShards(table, range, limit);
  return entries.map(({ pk, createdSk }) => ({
    purchaseId: keys.purchaseKey.parsePartition(String(pk)).purchaseId,
    createdAt: parseKeyTimestamp(String(createdSk)),
  }));
}

/** Returns the latest day (`YYYY-MM-DD`) with stored exchange rates. */
export async function findLatestRateDay({ table }: Service): Promise<string | undefined> {
  const [item] = await table.query({ partition: keys.ratesKey.partition(), newestFirst: true, limit: 1 });
  return item && String(item.sk);
}
