import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { getService } from '../../lib/foundation/container.ts';
import { parseStreamRecord } from '../../lib/purchases/stream-record.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';

/**
 * Reports the first failed record, from which Lambda reads the stream again.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const itemIdentifier = await fanOutDeliveries(getService(), Records.map(parseStreamRecord));
  return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
};
