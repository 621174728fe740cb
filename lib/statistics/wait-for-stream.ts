import type { DynamoDBRecord } from 'aws-lambda';
import { type Key, streamMarkerSk } from '../db/keys.ts';
import { deleteStreamMarkers, findRemainingMarkers, writeStreamMarkers } from '../db/stream-markers.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../shared/errors.ts';

type WaitContext = Pick<Deps, 'table' | 'now'> & { readonly wait: (ms: number) => Promise<void> };

const pollIntervalMs = 2_000;
const timeoutMs = 5 * 60_000;
/** Fences that are looked at together; the others are when these are gone. */
const markersPerPoll = 100;

/**
 * Waits until the aggregator has counted all that was written before. Throws `Conflict` when it has not after five
 * minutes: then it is far behind, or does not run.
 */
export async function waitForStream(appName: string, { table, now, wait }: WaitContext): Promise<void> {
  const deadline = now() + timeoutMs;
  let remaining = await writeStreamMarkers(table, appName, now());
  while (remaining.length > 0) {
    const stillThere = await findRemainingMarkers(table, remaining.slice(0, markersPerPoll));
    remaining = [...stillThere, ...remaining.slice(markersPerPoll)];
    if (stillThere.length === 0) continue;
    if (now() >= deadline) {
      throw new ServiceError('Conflict', 'The stream of the table is not counted up to now: try again when it is.');
    }
    await wait(pollIntervalMs);
  }
}

/** Tells those who wait that the records have been counted. */
export async function deletePassedMarkers(
  records: readonly DynamoDBRecord[],
  { table }: Pick<Deps, 'table'>,
): Promise<void> {
  await deleteStreamMarkers(table, records.flatMap(findInsertedMarkers));
}

function findInsertedMarkers({ eventName, dynamodb }: DynamoDBRecord): Key[] {
  const { pk, sk } = dynamodb?.Keys ?? {};
  return eventName === 'INSERT' && pk?.S !== undefined && sk?.S === streamMarkerSk
    ? [{ pk: pk.S, sk: streamMarkerSk }]
    : [];
}
