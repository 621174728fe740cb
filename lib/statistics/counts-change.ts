import { createHash } from 'node:crypto';
import type { StreamRecord } from '../foundation/stream-record.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { type FigureCounts, negateFigureCounts, sumFigureCounts } from './count-figures.ts';
import { counterScopes, type DailyCounts, noItemCounts, subtractDailyCounts } from './count-item.ts';
import { negateProductCounts, type ProductCounts, sumProductCounts } from './count-product.ts';

/** The effect of one stream record on the counts of its app, or on the counts of its sandbox. */
export interface CountsChange {
  readonly appName: string;
  readonly isSandbox: boolean;
  readonly sequenceNumber: string;
  /** On DynamoDB's clock. */
  readonly writtenAt: EpochMillis;
  readonly dailyCounts: DailyCounts;
  readonly productCounts: readonly ProductCounts[];
  readonly figureCounts: readonly FigureCounts[];
}

/** Leaves out what the record does not change. TTL deletions change no count: expired items stay counted. */
export function listCountsChanges(record: StreamRecord): CountsChange[] {
  const { appName, kind, sequenceNumber, writtenAt, before, after, isTtlDeletion } = record;
  if (isTtlDeletion) return [];
  return counterScopes.flatMap(({ isSandbox, count }) => {
    const countsAfter = after ? count({ kind, item: after }) : noItemCounts;
    const countsBefore = before ? count({ kind, item: before }) : noItemCounts;
    const difference = subtractDailyCounts(countsAfter.days, countsBefore.days);
    const dailyCounts = new Map([...difference].filter(([, counts]) => Object.keys(counts).length > 0));
    const productCounts = sumProductCounts([
      ...countsAfter.products,
      ...countsBefore.products.map(negateProductCounts),
    ]);
    const figureCounts = sumFigureCounts([...countsAfter.figures, ...countsBefore.figures.map(negateFigureCounts)]);
    return dailyCounts.size + productCounts.length + figureCounts.length > 0
      ? [{ appName, isSandbox, sequenceNumber, writtenAt, dailyCounts, productCounts, figureCounts }]
      : [];
  });
}

/** Compares decimal sequence numbers, which are too long for a number. */
export const isLaterSequence = (a: string, b: string): boolean => (a.length === b.length ? a > b : a.length > b.length);

/** Shortens a shard id to 12 characters, because each counter stores it with its checkpoint. */
export const toShardKey = (shardId: string): string =>
  createHash('sha256').update(shardId).digest('base64url').slice(0, 12);
