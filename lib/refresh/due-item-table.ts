import { parseKeyTimestamp, toKey } from '../foundation/key.ts';
import {
  type DueItem,
  duePartitions,
  dueSortKeyLimit,
  moveDueSortKey,
  parseDueItemKey,
  parseIntervalCheck,
} from '../foundation/keys.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import { computePostponedCheck, computeRepeatedCheck } from '../purchases/refresh-schedule.ts';

/** Due times of purchases. */
interface OverdueRefreshes {
  readonly dueTimes: readonly EpochMillis[];
  /** No item was left out. */
  readonly isComplete: boolean;
}

/** A due item as it was listed. */
export type ListedItem = DueItem & {
  /** Time from which it was due. */
  readonly dueAt: EpochMillis;
  /** Time of the next interval check if this one finds no change. Absent if another refresh can follow. */
  readonly nextCheckAt?: EpochMillis;
  /** Time to which an interval check can be postponed: the next one, or the day of the renewal. */
  readonly postponedTo?: EpochMillis;
  readonly indexKey: { readonly pk: string; readonly sk: string; readonly dueSk: string };
};

/** Number of shards that fill a batch. Fewer than there are, because items are not spread evenly. */
const fullShards = 4;

/**
 * Lists up to `limit` items that are due at `now`, and of each shard up to a quarter of them, oldest first.
 * Eventually consistent: an item that was leased in the last second can be listed again.
 */
export async function listDueItems({ table }: Service, now: EpochMillis, limit: number): Promise<ListedItem[]> {
  const before = dueSortKeyLimit(now);
  const shardLimit = Math.ceil(limit / fullShards);
  const lists = await Promise.all(
    duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit: shardLimit })),
  );
  const oldest = lists.flat().sort((a, b) => (String(a.dueSk) < String(b.dueSk) ? -1 : 1));
  return oldest.slice(0, limit).flatMap((item) => toListedItem(item, now));
}

/**
 * Makes an item due again at `until`. Returns false if another worker has leased it since, or if it is not due now.
 */
export async function leaseDueItem(
  { table }: Service,
  { indexKey: { pk, sk, dueSk } }: ListedItem,
  until: EpochMillis,
): Promise<boolean> {
  const condition = { expression: 'dueSk = :current', values: { ':current': dueSk } };
  const fields = { dueSk: moveDueSortKey(dueSk, until) };
  return await tryUpdate(table, buildUpdate({ pk, sk }, fields, condition));
}

/**
 * Lists the due times of an app's purchases that are due at `now`, oldest first. Reads at most `limit` items of all
 * apps.
 */
export async function listOverdueRefreshes(
  { table }: Service,
  appName: string,
  now: EpochMillis,
  limit: number,
): Promise<OverdueRefreshes> {
  const shardLimit = Math.ceil(limit / duePartitions.length);
  const before = dueSortKeyLimit(now);
  const lists = await Promise.all(
    duePartitions.map((partition) => table.query({ partition, index: 'due', before, limit: shardLimit })),
  );
  const own = lists.flat().filter((item) => {
    const dueItem = parseDueItemKey(toKey(item));
    return dueItem?.kind === 'purchase' && dueItem.appName === appName;
  });
  return {
    dueTimes: own.map(({ dueSk }) => parseKeyTimestamp(String(dueSk))).sort((a, b) => a - b),
    isComplete: lists.every((list) => list.length < shardLimit),
  };
}

/** Returns no item if its key is of no kind that can be due. */
function toListedItem(item: Item, now: EpochMillis): ListedItem[] {
  const key = toKey(item);
  const dueSk = String(item.dueSk);
  const dueItem = parseDueItemKey(key);
  if (!dueItem) return [];
  const listed = { dueAt: parseKeyTimestamp(dueSk), indexKey: { ...key, dueSk } };
  if (dueItem.kind !== 'purchase') return [{ ...dueItem, ...listed }];
  const check = parseIntervalCheck(dueSk);
  const nextCheckAt = check && computeRepeatedCheck(check, listed.dueAt, now);
  const postponedTo = check && computePostponedCheck(check, now);
  const isIntervalCheck = check !== undefined;
  return [{ ...dueItem, ...listed, isIntervalCheck, ...omitUndefined({ nextCheckAt, postponedTo }) }];
}
