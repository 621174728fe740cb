import { randomUUID } from 'node:crypto';
import type { EmulatedStoreContext } from '../emulated-store.ts';
import { apiError } from './api-error.ts';
import { app } from './app.ts';
import { listSentNotifications, toHistoryItem } from './notification-history.ts';
import type { Environment } from './records.ts';
import type { ResponseContext } from './response-context.ts';

/**
 * `POST /inApps/v1/notifications/test`: sends a test notification.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
 */
export function requestTestNotification(
  context: ResponseContext,
  emitNotification: EmulatedStoreContext['emitNotification'],
  environment: Environment,
): object {
  if (context.deliveries.url() === undefined) throw apiError(4040007, 'No App Store Server Notification URL found.');
  const notificationUUID = randomUUID();
  const at = context.now();
  emitNotification({
    purchaseId: app.bundleId,
    at,
    native: { notificationType: 'TEST', notificationUUID, environment },
  });
  return { testNotificationToken: `${notificationUUID}_${at}` };
}

/**
 * `GET /inApps/v1/notifications/test/{token}`: returns the attempts. Throws an API error before the first attempt has
 * ended.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status
 */
export function getTestNotificationStatus(context: ResponseContext, token: string, environment: Environment): object {
  const [, id] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_\d+$/.exec(token) ?? [];
  if (id === undefined) throw apiError(4000020, 'Invalid request. The test notification token is invalid.');
  const sent = listSentNotifications(context, environment).find(
    ({ delivery }) => delivery.native.notificationUUID === id,
  );
  if (sent === undefined || sent.attempts.length === 0) {
    throw apiError(4040008, 'Either the test notification token is expired or the status is not available yet.');
  }
  return toHistoryItem(sent);
}
