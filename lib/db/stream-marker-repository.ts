import { randomUUID } from 'node:crypto';
import * as keys from '../foundation/keys.ts';
import { maxTransactionWrites, type Table } from '../foundation/table.ts';
import { splitIntoChunks } from '../shared/batches.ts';
import { dayMs } from '../shared/time.ts';
import type { StreamMarkerRepository } from '../statistics/stream-marker-repository.ts';

/**
 * Number of markers. Their keys are random, because the API does not show which shard stores a key. With 32 equal
 * shards, the probability that a shard gets no marker is 4 in a million.
 */
const markerCount = 512;
const markerTtlMs = dayMs;

export function createStreamMarkerRepository(table: Table): StreamMarkerRepository {
  return {
    async create(appName, now) {
      const ttl = keys.toTtl(now + markerTtlMs);
      const markers = Array.from({ length: markerCount }, () => keys.streamMarkerKey(appName, randomUUID()));
      await table.batchPut(markers.map((key) => ({ ...key, ttl })));
      return markers;
    },
    findRemaining: async (markers) => (await table.batchGet(markers)).map(keys.toKey),
    async delete(markers) {
      for (const chunk of splitIntoChunks(markers, maxTransactionWrites)) {
        await table.transact(chunk.map((Key) => ({ Delete: { TableName: table.name, Key } })));
      }
    },
  };
}
