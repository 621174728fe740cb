import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { getCounterParts, getService } from '../../lib/foundation/get-service.ts';
import { startBatch } from '../../lib/foundation/start-batch.ts';
import { parseStreamRecord } from '../../lib/purchases/stream-record.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';

/**
 * A batch of stream records with its shard id, which only events of tumbling windows contain.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 */
interface WindowEvent {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId?: string;
}

/** Fails the whole batch on an error: records that are already counted are ignored in the next attempt. */
export const handler = async ({
  Records,
  shardId,
}: WindowEvent): Promise<DynamoDBBatchResponse & { readonly state: object }> => {
  if (Records.length > 0) {
    if (shardId === undefined) throw new Error('The shard id is missing: configure a tumbling window.');
    const service = { ...startBatch(getService()), counterParts: getCounterParts() };
    await aggregateStreamRecords(service, Records.map(parseStreamRecord), shardId);
  }
  return { batchItemFailures: [], state: {} };
};
