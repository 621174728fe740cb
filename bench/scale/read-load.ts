import type { MeasuredOperation } from '../cost/run-operations.ts';
import type { MeteredRead } from '../units/dynamodb-request.ts';
import { type PartitionUnits, toSharedPattern } from './partition-load.ts';

/** The item with the settings of the app. */
export const appPartition = 'table APP#a';

/** The items that send-webhook reads once for each batch: lib/webhooks/with-shared-reads.ts. */
const batchReads = [appPartition, 'table a#H#*'];

/**
 * Returns the read units of one operation in partitions that many operations share. send-webhook gets
 * `messagesPerBatch` messages at once; it was measured with one. Leaves out the app, which fan-out-webhooks reads for
 * each batch of the stream.
 */
export function profileReads({ invocations, count }: MeasuredOperation, messagesPerBatch: number): PartitionUnits {
  const totals = new Map<string, number>();
  for (const { functionName, tableCalls } of invocations) {
    for (const read of tableCalls.flatMap(({ reads }) => reads)) {
      const pattern = toReadPattern(read);
      const isOfStream = functionName === 'workers/fan-out-webhooks' && pattern === appPartition;
      if (pattern === undefined || isOfStream) continue;
      const isShared = functionName === 'workers/send-webhook' && batchReads.includes(pattern);
      const units = read.units / (isShared ? messagesPerBatch : 1);
      totals.set(pattern, (totals.get(pattern) ?? 0) + units / count);
    }
  }
  return totals;
}

function toReadPattern({ space, partition }: MeteredRead): string | undefined {
  const pattern = partition.startsWith('APP#') ? 'APP#a' : toSharedPattern(partition, space);
  return pattern && `${space} ${pattern}`;
}
