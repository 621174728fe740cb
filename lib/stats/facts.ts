import { createHash } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { imageItem } from '../db/stream-image.ts';
import { type Contributions, type Counted, contributionsOf, without } from './contributions.ts';

/** What one record of the table's stream changes in the tallies of its application. */
export interface Fact {
  readonly app: string;
  readonly sequenceNumber: string;
  /** Epoch milliseconds, by the table's own clock. */
  readonly writtenAt: number;
  readonly changes: Contributions;
}

/** The fact of a record; undefined for one that changes nothing that is counted. What only grew too old is no fact. */
export function factOf({ eventName, dynamodb = {}, userIdentity }: DynamoDBRecord): Fact | undefined {
  const isExpiry = eventName === 'REMOVE' && userIdentity?.type === 'Service';
  const { NewImage, OldImage, Keys, SequenceNumber = '', ApproximateCreationDateTime: at = 0 } = dynamodb;
  const pk = Keys?.pk?.S;
  if (isExpiry || pk === undefined) return undefined;
  const [after, before] = [NewImage, OldImage].map((image) =>
    image ? contributionsOf(imageItem(image) as Counted) : new Map(),
  ) as [Contributions, Contributions];
  const changes = new Map([...without(after, before)].filter(([, tally]) => Object.keys(tally).length > 0));
  if (changes.size === 0) return undefined;
  return { app: pk.slice(0, pk.indexOf('#')), sequenceNumber: SequenceNumber, writtenAt: at * 1_000, changes };
}

/** Sequence numbers are decimal and longer than a number can be exact. */
export const isLater = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length;

/** A shard's name in a counter item: short, as every item that it touches carries it. */
export const shardMark = (shardId: string): string =>
  createHash('sha256').update(shardId).digest('base64url').slice(0, 12);
