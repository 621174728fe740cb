import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';

/** A batch of a stream that is read in tumbling windows, whose events name the shard. */
interface WindowEvent {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId?: string;
}

/** A batch is counted as a whole: what of it was counted before a failure is not counted again. */
export const handler = async ({
  Records,
  shardId,
}: WindowEvent): Promise<DynamoDBBatchResponse & { readonly state: object }> => {
  if (Records.length > 0) {
    if (shardId === undefined) throw new Error('The event names no shard: the stream must be read in windows.');
    await aggregateStreamRecords(Records, shardId, deps());
  }
  return { batchItemFailures: [], state: {} };
};
