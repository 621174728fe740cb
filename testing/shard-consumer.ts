import type { Service } from '../lib/foundation/service.ts';
import type { StreamRecord } from '../lib/foundation/stream-record.ts';
import { aggregateStreamRecords } from '../lib/statistics/aggregate-stream.ts';

/**
 * Passes the next batch of a shard to the aggregator, or the same batch again after a failure. Returns whether records
 * remain.
 */
export type ConsumeNext = (service: Service) => Promise<boolean>;

/** Creates a consumer of a shard's records, in batches of `sizes` in turn. */
export function createShardConsumer(
  records: readonly StreamRecord[],
  { shard, sizes }: { readonly shard: string; readonly sizes: readonly number[] },
): ConsumeNext {
  let consumedCount = 0;
  let turn = 0;
  return async (service) => {
    const batch = records.slice(consumedCount, consumedCount + (sizes[turn++ % sizes.length] ?? 1));
    await aggregateStreamRecords(service, batch, shard).then(
      () => {
        consumedCount += batch.length;
      },
      () => undefined,
    );
    return consumedCount < records.length;
  };
}
