import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';

export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> =>
  await fanOutDeliveries(Records, deps());
