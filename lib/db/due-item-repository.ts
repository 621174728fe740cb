import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

/** What is due, of all applications. */
export interface DueItemRepository {
  /**
   * Takes up to `limit` things that are due at `now`, oldest first. What is not done with ten minutes later, because
   * somebody crashed, is taken again.
   */
  lease(now: EpochMillis, limit: number): Promise<keys.DueItem[]>;
}

const leaseMs = 10 * 60_000;

export function createDueItemRepository(table: Table): DueItemRepository {
  return {
    async lease(now, limit) {
      const before = keys.dueSortKeyLimit(now);
      const lists = await Promise.all(
        keys.duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit })),
      );
      const oldest = lists.flat().sort((a, b) => (String(a.dueSk) < String(b.dueSk) ? -1 : 1));
      const taken = await Promise.all(oldest.slice(0, limit).map((item) => tryLease(table, item, now)));
      return taken.filter((due) => due !== undefined);
    },
  };
}

/** Moves the item's time on, unless somebody else did or it is no longer due. */
async function tryLease(table: Table, item: Item, now: EpochMillis): Promise<keys.DueItem | undefined> {
  const key = { pk: String(item.pk), sk: String(item.sk) };
  const next = keys.dueIndexKeys(key, now + leaseMs);
  try {
    await table.update({
      Key: key,
      UpdateExpression: 'SET dueSk = :next',
      ConditionExpression: 'dueSk = :seen',
      ExpressionAttributeValues: { ':next': next.dueSk, ':seen': item.dueSk },
    });
  } catch (error) {
    if (error instanceof ServiceError && error.code === ('Conflict' satisfies ErrorCode)) return undefined;
    throw error;
  }
  return keys.parseDueItemKey(key);
}
