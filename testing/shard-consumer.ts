import type { StreamRecord } from '../lib/shared/stream-record.ts';
import { type AggregationDeps, aggregateStreamRecords } from '../lib/statistics/aggregate-stream.ts';

/** Hands the next portion of a shard to an aggregator, once more after it failed; false when no record is left. */
export type ConsumeNext = (deps: AggregationDeps) => Promise<boolean>;

/** Hands out a shard's records in portions of these sizes in turn. */
export function createShardConsumer(
  records: readonly StreamRecord[],
  { shard, sizes }: { readonly shard: string; readonly sizes: readonly number[] },
): ConsumeNext {
  let taken = 0;
  let turn = 0;
  return async (working) => {
    const portion = records.slice(taken, taken + (sizes[turn++ % sizes.length] ?? 1));
    await aggregateStreamRecords(portion, shard, working).then(
      () => {
        taken += portion.length;
      },
      () => undefined,
    );
    return taken < records.length;
  };
}
