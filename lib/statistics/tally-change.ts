import { createHash } from 'node:crypto';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type DailyTallies, subtractDailyTallies, tallyItem } from './tally-item.ts';

/** The effect of one stream record on the tallies of its app. */
export interface TallyChange {
  readonly appName: string;
  readonly sequenceNumber: string;
  /** On DynamoDB's clock. */
  readonly writtenAt: EpochMillis;
  readonly dailyTallies: DailyTallies;
}

/** Returns undefined if the record does not change a tally. TTL deletions do not: expired items stay counted. */
export function toTallyChange(record: StreamRecord): TallyChange | undefined {
  const { appName, kind, sequenceNumber, writtenAt, before, after, isTtlDeletion } = record;
  if (isTtlDeletion) return undefined;
  const difference = subtractDailyTallies(
    after ? tallyItem({ kind, item: after }) : new Map(),
    before ? tallyItem({ kind, item: before }) : new Map(),
  );
  const dailyTallies = new Map([...difference].filter(([, tally]) => Object.keys(tally).length > 0));
  return dailyTallies.size > 0 ? { appName, sequenceNumber, writtenAt, dailyTallies } : undefined;
}

/** Compares decimal sequence numbers, which are too long for a number. */
export const isLaterSequence = (a: string, b: string): boolean => (a.length === b.length ? a > b : a.length > b.length);

/** Shortens a shard id to 12 characters, because each counter stores it with its checkpoint. */
export const toShardKey = (shardId: string): string =>
  createHash('sha256').update(shardId).digest('base64url').slice(0, 12);
