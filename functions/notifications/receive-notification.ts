import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';

/** Outside of `endpoint()`: a signature covers the raw bytes, and stores have dialects of their own. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  await receiveNotification(event, deps());
