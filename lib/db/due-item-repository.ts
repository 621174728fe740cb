import { type EpochMillis, minuteMs } from '../shared/time.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';
import { tryUpdate } from './try-update.ts';

/** The due items of all apps. */
export interface DueItemRepository {
  /**
   * Leases up to `limit` items that are due at `now`, and of each shard up to a quarter of them, oldest first. An item that is
   * still due after the lease of ten minutes, for example because the worker crashed, is leased again.
   */
  lease(now: EpochMillis, limit: number): Promise<keys.DueItem[]>;
  /** Lists the due times of an app's purchases that are due at `now`, oldest first. Reads at most `limit` items of all apps. */
  listOverdueRefreshes(appName: string, now: EpochMillis, limit: number): Promise<OverdueRefreshes>;
}

/** Due times of purchases. */
interface OverdueRefreshes {
  readonly dueTimes: readonly EpochMillis[];
  /** Whether no item was left out. */
  readonly isComplete: boolean;
}

const leaseMs = 10 * minuteMs;
/** Number of shards that fill a batch. Items of earlier versions are in the first four. */
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
        dueTimes: own.map(({ dueSk }) => Number(dueSk)).sort((a, b) => a - b),
        isComplete: lists.every((list) => list.length < shardLimit),
      };
    },
  };
}

/** Moves the item's due time. Returns undefined if another worker has leased the item, or if it is no longer due. */
async function tryLease(table: Table, item: Item, now: EpochMillis): Promise<keys.DueItem | undefined> {
  const key = keys.toKey(item);
  const { dueSk } = keys.dueIndexKeys(key, now + leaseMs);
  const condition = { expression: 'dueSk = :current', values: { ':current': item.dueSk } };
  const isLeased = await tryUpdate(table, buildUpdate(key, { dueSk }, condition));
  return isLeased ? keys.parseDueItemKey(key) : undefined;
}
