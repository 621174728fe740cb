import { createHash } from 'node:crypto';
import { ServiceError } from '../shared/errors.ts';
import type { RunOnce } from '../shared/stored-operations.ts';
import { dayMs, type EpochMillis, minuteMs } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

/** Maximum duration of a run. A run that started earlier has ended, with or without a result. */
const maxRunMs = minuteMs;
const retentionMs = 400 * dayMs;

/**
 * Creates `RunOnce` for one platform of an app. The key is reserved before the operation runs. After a run that failed
 * or was interrupted, the next call recovers first and runs the operation again only if there is nothing to recover.
 */
export function createRunOnce(
  table: Table,
  { appName, platform, now }: { appName: string; platform: string; now: () => EpochMillis },
): RunOnce {
  return async (key, run, recover) => {
    const digest = createHash('sha256').update(key).digest('hex');
    const itemKey = keys.idempotencyKey(appName, platform, digest);
    const existing = await table.get(itemKey);
    if (typeof existing?.result === 'string') return JSON.parse(existing.result);
    const startedAt = now();
    const ttl = keys.toTtl(startedAt + retentionMs);
    await reserveKey(table, { item: { ...itemKey, startedAt, ttl }, existing });
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
  { item, existing }: { item: Item & { startedAt: EpochMillis }; existing: Item | undefined },
): Promise<void> {
  const before = Number(existing?.startedAt);
  if (existing && item.startedAt - before < maxRunMs) {
    throw new ServiceError('Conflict', 'The same payment is being made by another request.');
  }
  await table.transact([
    {
      Put: {
        TableName: table.name,
        Item: item,
        ...(existing
          ? { ConditionExpression: 'startedAt = :before', ExpressionAttributeValues: { ':before': before } }
          : { ConditionExpression: 'attribute_not_exists(pk)' }),
      },
    },
  ]);
}
