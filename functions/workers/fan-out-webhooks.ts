import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { parseStreamRecord } from '../../lib/db/stream-record.ts';
import { apps, customers, deliveries, now, provideDeps, webhookQueue } from '../../lib/deps.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';

const deps = provideDeps({ apps, customers, deliveries, now, webhookQueue });

/**
 * Reports the first failed record, from which Lambda reads the stream again.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const itemIdentifier = await fanOutDeliveries(Records.map(parseStreamRecord), deps);
  return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
};
