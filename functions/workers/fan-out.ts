import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { fanOut } from '../../lib/webhooks/fan-out.ts';

export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> =>
  await fanOut(Records, deps());
