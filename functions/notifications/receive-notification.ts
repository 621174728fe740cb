import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { events } from '../../composition/events.ts';
import { forwardQueue, notificationQueue } from '../../composition/queues.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { once } from '../../lib/shared/once.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';
import { loadStore } from '../../lib/stores/index.ts';

const deps = once(() => ({
  ...storeContextDeps(),
  events: events(),
  forwardQueue: forwardQueue(),
  loadStore,
  notificationQueue: notificationQueue(),
}));

/** Does not use `createHandler`, because signatures cover the raw body and stores expect their own response formats. */
export const handler = async (lambdaEvent: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  await receiveNotification(lambdaEvent, deps());
