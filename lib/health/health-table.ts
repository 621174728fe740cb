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

/** A purchase with the time of its last change. */
interface ChangedPurchase {
  readonly purchaseId: string;
  readonly updatedAt: EpochMillis;
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

/** Lists the purchases of the app that changed last, the latest first. */
export async function listLatestPurchases(
  { table }: Service,
  appName: string,
  limit: number,
): Promise<ChangedPurchase[]> {
  const partitions = keys.updatedPurchaseList.partitions(appName);
  const range = { partitions, index: 'byKey', between: allTimestamps, newestFirst: true } as const;
  const entries = await queryShards(table, range, limit);
  return entries.map(({ pk, keySk }) => ({
    purchaseId: keys.purchaseKey.parsePartition(String(pk)).purchaseId,
    updatedAt: parseKeyTimestamp(String(keySk)),
  }));
}

/** Returns the latest day (`YYYY-MM-DD`) with stored exchange rates. */
export async function findLatestRateDay({ table }: Service): Promise<string | undefined> {
  const [item] = await table.query({ partition: keys.ratesKey.partition(), newestFirst: true, limit: 1 });
  return item && String(item.sk);
}
