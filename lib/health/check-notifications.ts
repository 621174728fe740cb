import type { EventRecord } from '../events/event.ts';
import { listEventPage, listEventsByTags } from '../events/event-list-table.ts';
import { once } from '../foundation/cache.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, minuteMs } from '../foundation/time.ts';
import { createFinding, type Finding } from './finding.ts';
import { listLatestPurchases } from './health-table.ts';

export interface NotificationCheck {
  readonly app: string;
  readonly platform: Platform;
  /** URL that the operator configures in the store. */
  readonly url: string;
  readonly listLatestEvents: ListLatestEvents;
}

/** Returns the latest events of the app, the latest first. The checks of all its stores share one result. */
export type ListLatestEvents = () => Promise<readonly EventRecord[]>;

/** Events that are read per app, without the events of reads. */
const maxEvents = 300;

export const createEventList = (service: Service, app: string): ListLatestEvents =>
  once(async () => (await listEventPage(service, app, { limit: maxEvents, includesReads: false })).rows);

/** Purchases that are read. The events of a purchase remain findable when the app has many requests. */
const maxPurchases = 200;
const maxTags = 20;

/** Stores send a notification within seconds. In their sandboxes, a purchase changes every few minutes. */
const graceMs = 10 * minuteMs;

/**
 * Finds a store that has sold purchases and never sent a notification, and notifications that only the hourly recovery
 * has found. Both mean that the URL in the store is missing or wrong.
 */
export async function checkNotifications(service: Service, check: NotificationCheck): Promise<readonly Finding[]> {
  const { app, platform } = check;
  const latestEvents = await check.listLatestEvents();
  const recovered = countRecovered(latestEvents, platform, service.now() - dayMs);
  if (recovered > 0) return [createUndeliveredFinding(check, recovered)];
  if (latestEvents.some((event) => isNotification(event, platform))) return [];
  const purchases = (await listLatestPurchases(service, app, maxPurchases)).filter(
    ({ purchaseId, createdAt }) => purchaseId.startsWith(`${platform}:`) && createdAt < service.now() - graceMs,
  );
  if (purchases.length === 0) return [];
  const tags = purchases.slice(0, maxTags).map(({ purchaseId }) => purchaseId);
  const purchaseEvents = await listEventsByTags(service, app, tags, maxEvents);
  if (purchaseEvents.some((event) => isNotification(event, platform))) return [];
  return [createNeverReceivedFinding(check, purchases.length)];
}

export const isNotification = ({ type }: EventRecord, platform: Platform): boolean =>
  type === `webhook.${platform}.called`;

/**
 * Counts the undelivered notifications that were recovered. Stores other than the App Store report only payment
 * reversals there.
 */
function countRecovered(events: readonly EventRecord[], platform: Platform, since: number): number {
  if (platform !== platformTokens.appStore) return 0;
  return events
    .filter(({ type, date, outcome }) => type === 'notifications.reconciled' && date >= since && outcome.ok)
    .flatMap(({ content }) => content.notifications)
    .filter((notification) => notification.platform === platform).length;
}

const createUndeliveredFinding = ({ app, platform, url }: NotificationCheck, count: number): Finding =>
  createFinding(
    'notifications-undelivered',
    {
      problem: `${platform} failed to deliver ${count} notifications of the last day, which the hourly recovery found late.`,
      cure: `Check that the notification URL is ${url}: ${notificationPlaces[platform]}.`,
    },
    { app, platform },
  );

const createNeverReceivedFinding = ({ app, platform, url }: NotificationCheck, count: number): Finding =>
  createFinding(
    'notifications-never-received',
    {
      problem: `${platform} has not sent a notification, although ${count} of the app's latest purchases are of this store.`,
      cure: `Enter the notification URL ${url}: ${notificationPlaces[platform]}.`,
    },
    { app, platform },
  );

/** Places in which the operator configures the notification URL. */
export const notificationPlaces: Readonly<Record<Platform, string>> = {
  [platformTokens.appStore]:
    'App Store Connect, App Information, App Store Server Notifications, version 2, for production and for the sandbox',
  [platformTokens.googlePlay]:
    'Google Cloud console, Pub/Sub, an authenticated push subscription to the topic of the Play Console, Monetization setup',
  [platformTokens.microsoftStore]: 'none, because the service polls the store',
  [platformTokens.stripe]: 'Stripe dashboard, Developers, Webhooks',
  [platformTokens.serviceStripe]:
    "Stripe dashboard of the deployment's account, Developers, Webhooks, one endpoint per app",
  [platformTokens.braintree]: 'Braintree control panel, Settings, API, Webhooks, all kinds',
};
