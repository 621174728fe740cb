import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

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

/** Reads that only the checks of the service need. They read indexes, which are eventually consistent. */
export interface HealthRepository {
  /** Returns the items that were due before a time. Undefined without such items. Counts at most `limit`. */
  findLateItems(before: EpochMillis, limit: number): Promise<LateItems | undefined>;
  /** Lists the purchases of the app that changed last, the latest first. */
  listLatestPurchases(appName: string, limit: number): Promise<ChangedPurchase[]>;
  /** Returns the latest day (`YYYY-MM-DD`) with stored exchange rates. */
  findLatestRateDay(): Promise<string | undefined>;
}

export function createHealthRepository(table: Table): HealthRepository {
  return {
    async findLateItems(before, limit) {
      const shards = await Promise.all(
        keys.duePartitions.map(
          async (partition) =>
            await table.query({ partition, index: 'due', before: keys.dueSortKeyLimit(before), limit }),
        ),
      );
      const dueTimes = shards.flat().map(({ dueSk }) => keys.parseKeyTimestamp(String(dueSk)));
      if (dueTimes.length === 0) return undefined;
      return { count: Math.min(dueTimes.length, limit), oldestDueAt: Math.min(...dueTimes) };
    },
    async listLatestPurchases(appName, limit) {
      const partition = keys.updatedPartition(appName);
      const entries = await table.query({ partition, index: 'byKey', newestFirst: true, limit });
      return entries.map(({ pk, keySk }) => ({
        purchaseId: keys.parsePurchasePartition(String(pk)),
        updatedAt: keys.parseKeyTimestamp(String(keySk)),
      }));
    },
    async findLatestRateDay() {
      const [item] = await table.query({ partition: keys.ratesPartition, newestFirst: true, limit: 1 });
      return item && String(item.sk);
    },
  };
}
