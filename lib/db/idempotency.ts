import { createHash } from 'node:crypto';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Runs what must never happen twice, for example a charge, and remembers its result. */
export type RunOnce = <T extends object>(
  key: string,
  run: () => Promise<T>,
  recover: () => Promise<T | undefined>,
) => Promise<T>;

/** Longer than any run: a run that started before it has ended, with a result or without one. */
const maxRunMs = 60_000;
const retentionMs = 400 * 24 * 60 * 60 * 1000;

/**
 * `Once` for the keys of one platform of one application. The first caller claims the key before it runs; who comes
 * while it runs gets `Conflict`; who comes after a run that failed, or that was killed, recovers first and runs again only
 * when `recover` is sure that nothing happened.
 */
export function createRunOnce(
  table: Table,
  { appName, platform, now }: { appName: string; platform: string; now: () => EpochMillis },
): RunOnce {
  return async (key, run, recover) => {
    const digest = createHash('sha256').update(key).digest('hex');
    const itemKey = keys.idempotencyKey(appName, platform, digest);
    const present = await table.get(itemKey);
    if (typeof present?.result === 'string') return JSON.parse(present.result);
    const startedAt = now();
    const ttl = Math.floor((startedAt + retentionMs) / 1000);
    await reserveKey(table, { item: { ...itemKey, startedAt, ttl }, present });
    const recovered = present ? await recover() : undefined;
    const result =
      recovered ??
      (await run().catch(async (failure: unknown) => {
        await table.batchPut([{ ...itemKey, startedAt: 0, ttl }]);
        throw failure;
      }));
    await table.batchPut([{ ...itemKey, startedAt, ttl, result: JSON.stringify(result) }]);
    return result;
  };
}

async function reserveKey(
  table: Table,
  {
    item,
    present,
  }: { item: Record<string, unknown> & { startedAt: EpochMillis }; present: Record<string, unknown> | undefined },
): Promise<void> {
  const before = Number(present?.startedAt);
  if (present && item.startedAt - before < maxRunMs) {
    throw new ServiceError('Conflict', 'The same payment is being made by another request.');
  }
  await table.transact([
    {
      Put: {
        TableName: table.name,
        Item: item,
        ...(present
          ? { ConditionExpression: 'startedAt = :before', ExpressionAttributeValues: { ':before': before } }
          : { ConditionExpression: 'attribute_not_exists(pk)' }),
      },
    },
  ]);
}
