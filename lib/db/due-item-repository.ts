import type { DueItemRepository, LeasedItem } from '../refresh/due-item-repository.ts';
import { type EpochMillis, minuteMs } from '../shared/time.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';
import { tryUpdate } from './try-update.ts';

const leaseMs = 10 * minuteMs;
/** Number of shards that fill a batch. Fewer than there are, because items are not spread evenly. */
const fullShards = 4;

export function createDueItemRepository(table: Table): DueItemRepository {
  return {
    async lease(now, limit) {
      const before = keys.dueSortKeyLimit(now);
      const shardLimit = Math.ceil(limit / fullShards);
      const lists = await Promise.all(
        keys.duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit: shardLimit })),
      );
      const oldest = lists.flat().sort((a, b) => (String(a.dueSk) < String(b.dueSk) ? -1 : 1));
      const leased = await Promise.all(oldest.slice(0, limit).map((item) => tryLease(table, item, now)));
      return leased.filter((dueItem) => dueItem !== undefined);
    },
    async listOverdueRefreshes(appName, now, limit) {
      const shardLimit = Math.ceil(limit / keys.duePartitions.length);
      const before = keys.dueSortKeyLimit(now);
      const lists = await Promise.all(
        keys.duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit: shardLimit })),
      );
      const own = lists.flat().filter((item) => {
        const dueItem = keys.parseDueItemKey(keys.toKey(item));
        return dueItem?.kind === 'purchase' && dueItem.appName === appName;
      });
      return {
        dueTimes: own.map(({ dueSk }) => keys.parseKeyTimestamp(String(dueSk))).sort((a, b) => a - b),
        isComplete: lists.every((list) => list.length < shardLimit),
      };
    },
  };
}

/** Moves the item's due time. Returns undefined if another worker has leased the item, or if it is no longer due. */
async function tryLease(table: Table, item: Item, now: EpochMillis): Promise<LeasedItem | undefined> {
  const key = keys.toKey(item);
  const isIntervalCheck = keys.isIntervalCheckKey(String(item.dueSk));
  const { dueSk } = keys.dueIndexKeys(key, now + leaseMs, isIntervalCheck);
  const condition = { expression: 'dueSk = :current', values: { ':current': item.dueSk } };
  const isLeased = await tryUpdate(table, buildUpdate(key, { dueSk }, condition));
  const dueItem = isLeased ? keys.parseDueItemKey(key) : undefined;
  const dueAt = keys.parseKeyTimestamp(String(item.dueSk));
  return dueItem && { ...dueItem, ...(dueItem.kind === 'purchase' && { isIntervalCheck }), dueAt };
}
