import type { DynamoDBRecord } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../shared/errors.ts';

type WaitContext = Pick<Deps, 'streamMarkers' | 'now'> & { readonly wait: (ms: number) => Promise<void> };

const pollIntervalMs = 2_000;
const timeoutMs = 5 * 60_000;
/** Fences that are looked at together; the others are when these are gone. */
const markersPerPoll = 100;

/**
 * Waits until the aggregator has counted all that was written before. Throws `Conflict` when it has not after five
 * minutes: then it is far behind, or does not run.
 */
export async function waitForStream(appName: string, { streamMarkers, now, wait }: WaitContext): Promise<void> {
  const deadline = now() + timeoutMs;
  let remaining = await streamMarkers.create(appName, now());
  while (remaining.length > 0) {
    const stillThere = await streamMarkers.findRemaining(remaining.slice(0, markersPerPoll));
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
  { streamMarkers }: Pick<Deps, 'streamMarkers'>,
): Promise<void> {
  const markers = records.flatMap(findInsertedMarkers);
  if (markers.length > 0) await streamMarkers.delete(markers);
}

function findInsertedMarkers({ eventName, dynamodb }: DynamoDBRecord): { readonly pk: string; readonly sk: string }[] {
  const { pk, sk } = dynamodb?.Keys ?? {};
  return eventName === 'INSERT' && pk?.S !== undefined && sk?.S === 'F' ? [{ pk: pk.S, sk: sk.S }] : [];
}
