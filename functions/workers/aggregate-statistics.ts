import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';

/** A batch of stream records. Lambda passes the shard id only with a tumbling window. */
interface WindowEvent {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId?: string;
}

/** Counts the batch as a whole. A retry does not count records again that were counted before the failure. */
export const handler = async ({
  Records,
  shardId,
}: WindowEvent): Promise<DynamoDBBatchResponse & { readonly state: object }> => {
  if (Records.length > 0) {
    if (shardId === undefined) throw new Error('shardId is missing: the stream requires a tumbling window.');
    await aggregateStreamRecords(Records, shardId, deps());
  }
  return { batchItemFailures: [], state: {} };
};
