import { type Platform, platformTokens } from '../foundation/platform.ts';
import type { NotificationRoute, RouteRequest } from './notification-route.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Tests the way of notifications to a URL: requests a test notification, or reads the store's settings, as far as the
 * store has such calls and the credentials permit them. Throws like the methods of `Store`.
 */
type NotificationTest = (request: RouteRequest, context: StoreContext) => Promise<NotificationRoute>;

const loadStripeTest = async (): Promise<NotificationTest> =>
  (await import('./stripe/test-notifications.ts')).testNotifications;

/** Apart from the adapters, because only the command line tests notifications: functions stay small. */
const loaders: Readonly<Record<Platform, () => Promise<NotificationTest>>> = {
  [platformTokens.appStore]: async () => (await import('./app-store/test-notifications.ts')).testNotifications,
  [platformTokens.googlePlay]: async () => (await import('./google-play/test-notifications.ts')).testNotifications,
  [platformTokens.microsoftStore]: async () =>
    (await import('./microsoft-store/test-notifications.ts')).testNotifications,
  [platformTokens.stripe]: loadStripeTest,
  [platformTokens.serviceStripe]: loadStripeTest,
  [platformTokens.braintree]: async () => (await import('./braintree/test-notifications.ts')).testNotifications,
};

/** Loads the test of a store. */
export const loadNotificationTest = async (platform: Platform): Promise<NotificationTest> => await loaders[platform]();
