import * as keys from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import type { Table } from '../foundation/table.ts';
import type { HealthRepository } from '../health/health-repository.ts';

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
      const partitions = keys.updatedPartitions(appName);
      const range = { partitions, index: 'byKey', between: keys.allTimestamps, newestFirst: true } as const;
      const entries = await queryShards(table, range, limit);
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
