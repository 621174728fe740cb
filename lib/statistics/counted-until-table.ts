import * as v from 'valibot';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, secondMs, toIso } from '../foundation/time.ts';
import { createStreamMarkers, findRemainingMarkers } from './stream-marker-table.ts';

const Marker = v.object({ pk: v.string(), sk: v.string() });

/** Stream markers that were written at the same time. */
const MarkerGroup = v.object({ createdAt: v.number(), markers: v.array(Marker) });

/** The groups that the aggregator has not passed, oldest first, and the time of the last one that it has passed. */
const MarkerLog = v.object({ countedUntil: v.number(), groups: v.array(MarkerGroup) });
type MarkerLog = v.InferOutput<typeof MarkerLog>;

/** Markers of no app. No app name starts with `_`. */
const owner = '_STATS';

/** Markers of a group. With four equal shards, a shard lacks a marker in 10 % of the groups. */
const groupSize = 8;

/** Maximum number of groups that wait: the oldest one determines the time. */
const maxGroups = 12;

/** Less than the minute of the schedule. */
const minIntervalMs = 45 * secondMs;

/** DynamoDB deletes records of the stream after a day. */
const retentionMs = dayMs;

/**
 * Returns the time until which the aggregator has counted all writes: the time of the latest markers that it has passed
 * with all earlier ones. `firstTime`, by default the current time, before the first markers are written.
 */
export async function readCountedUntil(service: Service, firstTime: EpochMillis = service.now()): Promise<string> {
  const now = service.now();
  const { countedUntil = firstTime } = (await readLog(service)) ?? {};
  return toIso(Math.min(countedUntil, now));
}

/** Writes the markers of a minute, unless a repeated invocation has written them, or many groups wait. */
export async function writeMarkers(service: Service): Promise<void> {
  const now = service.now();
  const log = await readLog(service);
  const { countedUntil, groups } = log ?? { countedUntil: now, groups: [] };
  const latest = groups.at(-1)?.createdAt ?? countedUntil;
  // The clock of npm start can also be moved back.
  if (log && Math.abs(now - latest) < minIntervalMs) return;
  const waiting = groups.filter(({ createdAt }) => now - createdAt < retentionMs);
  if (waiting.length < maxGroups)
    waiting.push({ createdAt: now, markers: await createStreamMarkers(service, owner, groupSize) });
  // After the markers: a listed marker that is not stored counts as passed.
  await service.table.batchPut([{ ...keys.markerLogKey(), countedUntil, groups: waiting }]);
}

async function readLog(service: Service): Promise<MarkerLog | undefined> {
  const item = await service.table.get(keys.markerLogKey());
  if (!item) return undefined;
  const { countedUntil, groups } = parse(MarkerLog, item, 'DatabaseError');
  const remaining = await findRemainingMarkers(
    service,
    groups.flatMap(({ markers }) => markers),
  );
  const partitions = new Set(remaining.map(({ pk }) => pk));
  const isPassed = ({ markers }: MarkerLog['groups'][number]): boolean => !markers.some(({ pk }) => partitions.has(pk));
  const firstWaiting = groups.findIndex((group) => !isPassed(group));
  const passed = firstWaiting === -1 ? groups : groups.slice(0, firstWaiting);
  return {
    countedUntil: passed.at(-1)?.createdAt ?? countedUntil,
    groups: groups.slice(passed.length).filter((group) => !isPassed(group)),
  };
}
