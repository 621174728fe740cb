import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { apps } from '../../composition/apps.ts';
import { purchases } from '../../composition/purchases.ts';
import { streamFailures, webhookQueue } from '../../composition/queues.ts';
import { service } from '../../composition/service.ts';
import { table } from '../../composition/table.ts';
import { createCustomerRepository } from '../../lib/db/customer-repository.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { parseStreamRecord } from '../../lib/db/stream-record.ts';
import { once } from '../../lib/shared/once.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';

const deps = once(() => ({
  apps: apps(),
  customers: createCustomerRepository(table()),
  deliveries: createDeliveryRepository(table()),
  ...service(),
  purchases: purchases(),
  streamFailures: streamFailures(),
  webhookQueue: webhookQueue(),
}));

/**
 * Reports the first failed record, from which Lambda reads the stream again.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const itemIdentifier = await fanOutDeliveries(Records.map(parseStreamRecord), deps());
  return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
};
