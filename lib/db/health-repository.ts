import type { HealthRepository } from '../health/health-repository.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

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
