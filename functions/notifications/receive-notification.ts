import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { getService } from '../../lib/foundation/get-service.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';

/** Does not use `createHandler`, because signatures cover the raw body and stores expect their own response formats. */
export const handler = async (lambdaEvent: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  await receiveNotification(getService(), lambdaEvent);
