import { createHash } from 'node:crypto';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type DailyTallies, type ItemTallies, subtractDailyTallies, tallyStoredItem } from './tally-item.ts';
import { negateProductTally, type ProductTally, sumProductTallies } from './tally-product.ts';

/** The effect of one stream record on the tallies of its app. */
export interface TallyChange {
  readonly appName: string;
  readonly sequenceNumber: string;
  /** On DynamoDB's clock. */
  readonly writtenAt: EpochMillis;
  readonly dailyTallies: DailyTallies;
  readonly productTallies: readonly ProductTally[];
}

const noTallies: ItemTallies = { days: new Map(), products: [] };

/** Returns undefined if the record does not change a tally. TTL deletions do not: expired items stay counted. */
export function toTallyChange(record: StreamRecord): TallyChange | undefined {
  const { appName, kind, sequenceNumber, writtenAt, before, after, isTtlDeletion } = record;
  if (isTtlDeletion) return undefined;
  const tallyAfter = after ? tallyStoredItem({ kind, item: after }) : noTallies;
  const tallyBefore = before ? tallyStoredItem({ kind, item: before }) : noTallies;
  const difference = subtractDailyTallies(tallyAfter.days, tallyBefore.days);
  const dailyTallies = new Map([...difference].filter(([, tally]) => Object.keys(tally).length > 0));
  const productTallies = sumProductTallies([...tallyAfter.products, ...tallyBefore.products.map(negateProductTally)]);
  return dailyTallies.size + productTallies.length > 0
    ? { appName, sequenceNumber, writtenAt, dailyTallies, productTallies }
    : undefined;
}

/** Compares decimal sequence numbers, which are too long for a number. */
export const isLaterSequence = (a: string, b: string): boolean => (a.length === b.length ? a > b : a.length > b.length);

/** Shortens a shard id to 12 characters, because each counter stores it with its checkpoint. */
export const toShardKey = (shardId: string): string =>
  createHash('sha256').update(shardId).digest('base64url').slice(0, 12);
