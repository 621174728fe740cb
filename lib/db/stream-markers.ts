import { randomUUID } from 'node:crypto';
import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/**
 * Items that a shard of the stream hands out behind all that was written before them, and that the aggregator takes away
 * when it has counted that far. Nobody knows the shards of a table beforehand: of so many items, whose keys are spread at
 * random, one of 32 equal shards gets none four times in a million.
 */
const markerCount = 512;
const markerTtlMs = 24 * 60 * 60 * 1000;
const maxDeletesPerTransaction = 100;

/** Writes new fences and gives their keys. */
export async function writeStreamMarkers(table: Table, appName: string, now: EpochMillis): Promise<keys.Key[]> {
  const ttl = Math.floor((now + markerTtlMs) / 1000);
  const raised = Array.from({ length: markerCount }, () => keys.streamMarkerKey(appName, randomUUID()));
  await table.batchPut(raised.map((key) => ({ ...key, ttl })));
  return raised;
}

/** Those of the fences that stand still. */
export const findRemainingMarkers = async (table: Table, fences: readonly keys.Key[]): Promise<keys.Key[]> =>
  (await table.batchGet(fences)).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));

/** Takes fences away, those that are gone included. */
export async function deleteStreamMarkers(table: Table, fences: readonly keys.Key[]): Promise<void> {
  for (let start = 0; start < fences.length; start += maxDeletesPerTransaction) {
    const batch = fences.slice(start, start + maxDeletesPerTransaction);
    await table.transact(batch.map((Key) => ({ Delete: { TableName: table.name, Key } })));
  }
}
