import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { settleRecords } from '../../lib/credits/settle-records.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { startBatch } from '../../lib/foundation/start-batch.ts';
import { parseStreamRecord } from '../../lib/purchases/stream-record.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';

/**
 * Settles the credits of purchases, and creates the deliveries of webhooks. Reports the first failed record, from which
 * Lambda reads the stream again.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const service = startBatch(getService());
  const records = Records.map(parseStreamRecord);
  const failed = [await settleRecords(service, records), await fanOutDeliveries(service, records)];
  const first = records.find(({ sequenceNumber }) => failed.includes(sequenceNumber));
  return { batchItemFailures: first ? [{ itemIdentifier: first.sequenceNumber }] : [] };
};
