import { createHash } from 'node:crypto';
import { isConflict, ServiceError } from '../foundation/errors.ts';
import { type Key, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { RunOnce, StoredOperations, StoredResults } from '../foundation/stored-operations.ts';
import type { Item, Table } from '../foundation/table.ts';
import { dayMs, type EpochMillis, minuteMs } from '../foundation/time.ts';

const resultRetentionMs = 7 * dayMs;

/** Time for which a key of `RunOnce` is reserved after its last call. */
export const runRetentionMs = 400 * dayMs;

/** Maximum duration of a run. A run that started earlier has ended, with or without a result. */
const maxRunMs = minuteMs;

/** A concurrent call waits for the result at most 8 s: an API client waits at most 15 s. */
const defaultWaiting = { maxWaits: 32, waitMs: 250 };

interface RunOnceOptions {
  readonly appName: string;
  readonly platform: string;
  readonly now: () => EpochMillis;
  readonly waiting?: typeof defaultWaiting;
}

interface Reservation {
  /** Result of an earlier run. Otherwise, the key is reserved for this call. */
  readonly result?: unknown;
  readonly startedAt: EpochMillis;
  readonly ttl: number;
  readonly existing: Item | undefined;
}

export function selectOperations({ table, now }: Service, appName: string, platform: Platform): StoredOperations {
  return {
    runOnce: createRunOnce(table, { appName, platform, now }),
    storedResults: createStoredResults(table, { appName, platform, now }),
  };
}

/** Creates the results for one platform of an app. */
function createStoredResults(
  table: Table,
  { appName, platform, now }: { appName: string; platform: string; now: () => EpochMillis },
): StoredResults {
  const toKey = (key: string) =>
    keys.storedResultKey(appName, platform, createHash('sha256').update(key).digest('hex'));
  return {
    async find(key) {
      const item = await table.get(toKey(key));
      return typeof item?.result === 'string' ? JSON.parse(item.result) : undefined;
    },
    async save(key, result, retentionMs = resultRetentionMs) {
      const ttl = toTtl(now() + retentionMs);
      await table.batchPut([{ ...toKey(key), ttl, result: JSON.stringify(result) }]);
    },
  };
}

/**
 * Creates `RunOnce` for one platform of an app. The key is reserved before the operation runs. After a run that failed
 * or was interrupted, the next call recovers first and runs the operation again only if there is nothing to recover. A
 * concurrent call waits for the result. Throws `Conflict` if the run takes longer.
 */
export function createRunOnce(
  table: Table,
  { appName, platform, now, waiting = defaultWaiting }: RunOnceOptions,
): RunOnce {
  return async (key, run, recover) => {
    const digest = createHash('sha256').update(key).digest('hex');
    const itemKey = keys.idempotencyKey(appName, platform, digest);
    const reservation = await reserveKey(table, { itemKey, now, waiting });
    if (typeof reservation.result === 'string') return JSON.parse(reservation.result);
    const { startedAt, ttl, existing } = reservation;
    const recoverOrRun = async () => (existing && (await recover())) ?? (await run());
    const result = await recoverOrRun().catch(async (error: unknown) => {
      // Releases the key, so that the next call does not wait for the maximum duration.
      await table.batchPut([{ ...itemKey, startedAt: 0, ttl }]);
      throw error;
    });
    await table.batchPut([{ ...itemKey, startedAt, ttl, result: JSON.stringify(result) }]);
    return result;
  };
}

async function reserveKey(
  table: Table,
  { itemKey, now, waiting }: Pick<Required<RunOnceOptions>, 'now' | 'waiting'> & { readonly itemKey: Key },
): Promise<Reservation> {
  for (let waits = 0; ; waits++) {
    const existing = await table.get(itemKey);
    const startedAt = now();
    const ttl = toTtl(startedAt + runRetentionMs);
    if (existing?.result !== undefined) return { result: existing.result, startedAt, ttl, existing };
    const isRunning = existing !== undefined && startedAt - Number(existing.startedAt) < maxRunMs;
    if (!isRunning && (await tryReserve(table, { item: { ...itemKey, startedAt, ttl }, existing })))
      return { startedAt, ttl, existing };
    if (waits >= waiting.maxWaits)
      throw new ServiceError('Conflict', 'The same operation is in progress in another request.');
    await new Promise((resolve) => setTimeout(resolve, waiting.waitMs));
  }
}

/** Returns false if a concurrent call has reserved the key. */
async function tryReserve(
  table: Table,
  { item, existing }: { readonly item: Item; readonly existing: Item | undefined },
): Promise<boolean> {
  const condition = existing
    ? {
        ConditionExpression: 'startedAt = :before',
        ExpressionAttributeValues: { ':before': Number(existing.startedAt) },
      }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  try {
    await table.transact([{ Put: { TableName: table.name, Item: item, ...condition } }]);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
