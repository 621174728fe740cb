import type { StreamRecord } from '../lib/shared/stream-record.ts';
import { type AggregationDeps, aggregateStreamRecords } from '../lib/statistics/aggregate-stream.ts';

/**
 * Passes the next batch of a shard to the aggregator, or the same batch again after a failure. Returns whether records
 * remain.
 */
export type ConsumeNext = (deps: AggregationDeps) => Promise<boolean>;

/** Creates a consumer of a shard's records, in batches of `sizes` in turn. */
export function createShardConsumer(
  records: readonly StreamRecord[],
  { shard, sizes }: { readonly shard: string; readonly sizes: readonly number[] },
): ConsumeNext {
  let consumedCount = 0;
  let turn = 0;
  return async (deps) => {
    const batch = records.slice(consumedCount, consumedCount + (sizes[turn++ % sizes.length] ?? 1));
    await aggregateStreamRecords(batch, shard, deps).then(
      () => {
        consumedCount += batch.length;
      },
      () => undefined,
    );
    return consumedCount < records.length;
  };
}
