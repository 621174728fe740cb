import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { events, loadStore, notificationQueue, provideDeps, storeContextProviders } from '../../lib/deps.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';

const deps = provideDeps({ ...storeContextProviders, events, loadStore, notificationQueue });

/** Does not use `createHandler`, because signatures cover the raw body and stores expect their own response formats. */
export const handler = async (lambdaEvent: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  await receiveNotification(lambdaEvent, deps);
