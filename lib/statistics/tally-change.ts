import { createHash } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { unmarshallImage } from '../db/stream-image.ts';
import { type CountableItem, type DailyTallies, subtractDailyTallies, tallyItem } from './tally-item.ts';

/** What one record of the table's stream changes in the tallies of its application. */
export interface TallyChange {
  readonly appName: string;
  readonly sequenceNumber: string;
  /** Epoch milliseconds, by the table's own clock. */
  readonly writtenAt: number;
  readonly dailyTallies: DailyTallies;
}

/** The fact of a record; undefined for one that changes nothing that is counted. What only grew too old is no fact. */
export function toTallyChange({ eventName, dynamodb = {}, userIdentity }: DynamoDBRecord): TallyChange | undefined {
  const isTtlDeletion = eventName === 'REMOVE' && userIdentity?.type === 'Service';
  const { NewImage, OldImage, Keys, SequenceNumber = '', ApproximateCreationDateTime: at = 0 } = dynamodb;
  const pk = Keys?.pk?.S;
  if (isTtlDeletion || pk === undefined) return undefined;
  const [after, before] = [NewImage, OldImage].map((image) =>
    image ? tallyItem(unmarshallImage(image) as CountableItem) : new Map(),
  ) as [DailyTallies, DailyTallies];
  const dailyTallies = new Map(
    [...subtractDailyTallies(after, before)].filter(([, tally]) => Object.keys(tally).length > 0),
  );
  if (dailyTallies.size === 0) return undefined;
  return {
    appName: pk.slice(0, pk.indexOf('#')),
    sequenceNumber: SequenceNumber,
    writtenAt: at * 1_000,
    dailyTallies,
  };
}

/** Sequence numbers are decimal and longer than a number can be exact. */
export const isLaterSequence = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length;

/** A shard's name in a counter item: short, as every item that it touches carries it. */
export const toShardKey = (shardId: string): string =>
  createHash('sha256').update(shardId).digest('base64url').slice(0, 12);
