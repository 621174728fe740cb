import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryUpdate } from '../foundation/try-update.ts';
import { computeRepeatedCheck } from '../purchases/refresh-schedule.ts';
import type { DueItemRepository, ListedItem } from '../refresh/due-item-repository.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';

/** Number of shards that fill a batch. Fewer than there are, because items are not spread evenly. */
const fullShards = 4;

export function createDueItemRepository(table: Table): DueItemRepository {
  return {
    async list(now, limit) {
      const before = keys.dueSortKeyLimit(now);
      const shardLimit = Math.ceil(limit / fullShards);
      const lists = await Promise.all(
        keys.duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit: shardLimit })),
      );
      const oldest = lists.flat().sort((a, b) => (String(a.dueSk) < String(b.dueSk) ? -1 : 1));
      return oldest.slice(0, limit).flatMap((item) => toListedItem(item, now));
    },
    async lease({ indexKey: { pk, sk, dueSk } }, until) {
      const condition = { expression: 'dueSk = :current', values: { ':current': dueSk } };
      const fields = { dueSk: keys.moveDueSortKey(dueSk, until) };
      return await tryUpdate(table, buildUpdate({ pk, sk }, fields, condition));
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

/** Returns no item if its key is of no kind that can be due. */
function toListedItem(item: Item, now: EpochMillis): ListedItem[] {
  const key = keys.toKey(item);
  const dueSk = String(item.dueSk);
  const dueItem = keys.parseDueItemKey(key);
  if (!dueItem) return [];
  const listed = { dueAt: keys.parseKeyTimestamp(dueSk), indexKey: { ...key, dueSk } };
  if (dueItem.kind !== 'purchase') return [{ ...dueItem, ...listed }];
  const check = keys.parseIntervalCheck(dueSk);
  const nextCheckAt = check && computeRepeatedCheck(check, listed.dueAt, now);
  return [{ ...dueItem, ...listed, isIntervalCheck: check !== undefined, ...omitUndefined({ nextCheckAt }) }];
}
