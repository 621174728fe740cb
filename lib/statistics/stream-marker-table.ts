import { randomUUID } from 'node:crypto';
import { toKey, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs } from '../foundation/time.ts';

/** Key of a stream marker. */
interface StreamMarker {
  readonly pk: string;
  readonly sk: string;
}

/**
 * Number of markers. Their keys are random, because the API does not show which shard stores a key. With 32 equal
 * shards, the probability that a shard gets no marker is 4 in a million.
 */
const markerCount = 512;
const markerTtlMs = dayMs;

/** Creates markers, by default for all shards, and returns their keys. */
export async function createStreamMarkers(
  { table, now }: Service,
  appName: string,
  count = markerCount,
): Promise<StreamMarker[]> {
  const ttl = toTtl(now() + markerTtlMs);
  const markers = Array.from({ length: count }, () => keys.streamMarkerKey(appName, randomUUID()));
  await table.batchPut(markers.map((key) => ({ ...key, ttl })));
  return markers;
}

/** Returns the markers that the aggregator has not passed. */
export async function findRemainingMarkers(
  { table }: Service,
  markers: readonly StreamMarker[],
): Promise<StreamMarker[]> {
  return (await table.batchGet(markers)).map(toKey);
}

/** Idempotent: ignores markers that do not exist. */
export async function deleteStreamMarkers({ table }: Service, markers: readonly StreamMarker[]): Promise<void> {
  await table.batchDelete(markers);
}
