import type { DynamoDBRecord } from 'aws-lambda';
import { passFences, raiseFences, standing } from '../db/fences.ts';
import { fenceSk, type Key } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';

type Waiting = Pick<Deps, 'table' | 'now'> & { readonly wait: (ms: number) => Promise<void> };

const lookEveryMs = 2_000;
const patienceMs = 5 * 60_000;
/** Fences that are looked at together; the others are when these are gone. */
const lookedAt = 100;

/**
 * Waits until the aggregator has counted all that was written before. Throws `Conflict` when it has not after five
 * minutes: then it is far behind, or does not run.
 */
export async function caughtUp(app: string, { table, now, wait }: Waiting): Promise<void> {
  const until = now() + patienceMs;
  let left = await raiseFences(table, app, now());
  while (left.length > 0) {
    const front = await standing(table, left.slice(0, lookedAt));
    left = [...front, ...left.slice(lookedAt)];
    if (front.length === 0) continue;
    if (now() >= until) {
      throw new ServiceError('Conflict', 'The stream of the table is not counted up to now: try again when it is.');
    }
    await wait(lookEveryMs);
  }
}

/** Tells those who wait that the records have been counted. */
export async function passed(records: readonly DynamoDBRecord[], { table }: Pick<Deps, 'table'>): Promise<void> {
  await passFences(table, records.flatMap(raisedBy));
}

function raisedBy({ eventName, dynamodb }: DynamoDBRecord): Key[] {
  const { pk, sk } = dynamodb?.Keys ?? {};
  return eventName === 'INSERT' && pk?.S !== undefined && sk?.S === fenceSk ? [{ pk: pk.S, sk: fenceSk }] : [];
}
