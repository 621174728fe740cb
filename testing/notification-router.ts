import type { APIGatewayProxyEvent } from 'aws-lambda';
import { getApp } from '../lib/apps/manage-apps.ts';
import { listConnectedPlatforms } from '../lib/apps/store-settings-table.ts';
import { getService } from '../lib/foundation/get-service.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import type { Service } from '../lib/foundation/service.ts';
import { hourMs } from '../lib/foundation/time.ts';
import type { PurchaseChange } from '../lib/purchases/purchase-change.ts';
import { processNotification } from '../lib/store-notifications/process-notification.ts';
import type { QueuedNotification } from '../lib/store-notifications/queued-notification.ts';
import { receiveNotification } from '../lib/store-notifications/receive-notification.ts';
import { pollNotifications, recoverUndelivered } from '../lib/store-notifications/recover-notifications.ts';
import { startHttpServer } from '../local/http-server.ts';
import { observeChanges } from './observe-changes.ts';
import { toProxyEvent } from './proxy-event.ts';
import type { NotificationDelivery, TestService } from './service.ts';
import { waitFor } from './wait-for.ts';

/**
 * Receives the notifications of the emulated stores for several apps, on a queue whose order the test controls. The
 * clock of the service waits for the notifications that are posted or received and not yet on the queue.
 */
export interface NotificationRouter {
  /** Enqueues on this router, which records the changes of purchases. */
  readonly service: Service;
  /** Sets the apps that receive all later notifications. */
  routeTo(appNames: readonly string[]): void;
  /** Waits until the stores have posted all pending notifications. Throws if a notification was rejected. */
  waitUntilPosted(): Promise<void>;
  /** Enqueues the notifications of the stores that do not post them. */
  poll(appName: string): Promise<void>;
  /** Enqueues what the stores list as undelivered, such as the refunds of Braintree, which it does not post. */
  recover(appName: string): Promise<void>;
  /** Removes the queued notifications of an app from the queue and returns them, oldest first. */
  take(appName: string): QueuedNotification[];
  /** Processes the notifications one after the other. */
  process(notifications: readonly QueuedNotification[]): Promise<void>;
  /** Returns the changes of an app's purchases made with `service`, in the order of writing. */
  listChanges(appName: string): PurchaseChange[];
  close(): Promise<void>;
}

interface WaitingDelivery {
  readonly url: string;
  readonly dueAt: string;
}

/** Starts a router and makes the stores of the platforms post to it. */
export async function startNotificationRouter(
  service: TestService,
  platforms: readonly Platform[],
): Promise<NotificationRouter> {
  let queue: QueuedNotification[] = [];
  let appNames: readonly string[] = [];
  let accepting: Promise<void>[] = [];
  const { routerService, changes, stopObserving } = createRouterService(
    (notifications) => void queue.push(...notifications),
  );
  // Responds before the service does: on a slow machine, attempts would time out and be retried on the emulated clock.
  const server = await startHttpServer(async (request, response) => {
    const event = await toProxyEvent(request);
    const connected = await selectConnected(routerService, appNames, event.path);
    accepting.push(...connected.map(async (appName) => await acceptNotification(routerService, event, appName)));
    response.writeHead(200).end();
  });
  for (const platform of platforms) {
    await service.setNotificationUrl(platform, `${server.url}/v3/webhook/${platform}/`);
  }
  // Not for those that a test delays or holds.
  const isInFlight = ({ url, dueAt }: WaitingDelivery): boolean =>
    url.startsWith(server.url) && Date.parse(dueAt) <= routerService.now();
  const waitUntilAccepted = async (): Promise<void> => {
    const listInFlight = async () => {
      const waiting: WaitingDelivery[] = (await service.callControl('/notifications?state=waiting')).notifications;
      return waiting.filter(isInFlight);
    };
    await waitFor('notifications in flight', listInFlight, ({ length }) => length === 0);
    // `waitUntilPosted` throws the error of a notification that was rejected.
    await Promise.allSettled(accepting);
  };
  service.clockWaits.add(waitUntilAccepted);
  return {
    service: routerService,
    routeTo(names) {
      appNames = names;
    },
    async waitUntilPosted() {
      await service.waitUntilNotified();
      const deliveries: readonly NotificationDelivery[] = (await service.callControl('/notifications')).notifications;
      const rejected = deliveries.find(({ attempts }) => attempts.some(({ status }) => status !== 200));
      if (rejected) throw new Error(`A notification was not posted: ${JSON.stringify(rejected)}`);
      const accepted = accepting;
      accepting = [];
      await Promise.all(accepted);
    },
    async poll(appName) {
      await pollNotifications(routerService, [await getApp(routerService, appName)], () => hourMs);
    },
    async recover(appName) {
      await recoverUndelivered(routerService, [await getApp(routerService, appName)], () => hourMs);
    },
    take(appName) {
      const taken = queue.filter((notification) => notification.appName === appName);
      queue = queue.filter((notification) => notification.appName !== appName);
      return taken;
    },
    async process(notifications) {
      for (const notification of notifications) await processNotification(routerService, notification);
    },
    listChanges: (appName) => changes.get(appName) ?? [],
    async close() {
      service.clockWaits.delete(waitUntilAccepted);
      stopObserving();
      await server.close();
    },
  };
}

/** Selects the apps with settings for the store: a store also notifies about purchases of earlier tests. */
async function selectConnected(service: Service, appNames: readonly string[], path: string): Promise<string[]> {
  const connections = await Promise.all(
    appNames.map(async (appName) => await listConnectedPlatforms(service, appName)),
  );
  return appNames.filter((_appName, index) => connections[index]?.some((platform) => path.includes(`/${platform}/`)));
}

/** Repeats the notification as a store does, until the service accepts it. Throws if the service rejects it. */
async function acceptNotification(routerService: Service, event: APIGatewayProxyEvent, appName: string): Promise<void> {
  const receive = async () => await receiveNotification(routerService, { ...event, path: `${event.path}${appName}` });
  const { statusCode, body } = await waitFor(
    `a notification of ${event.path}${appName}`,
    receive,
    (result) => result.statusCode < 500,
  );
  if (statusCode !== 200) throw new Error(`The service rejected a notification of ${event.path}${appName}: ${body}`);
}

function createRouterService(enqueue: (notifications: readonly QueuedNotification[]) => void) {
  const changes = new Map<string, PurchaseChange[]>();
  const routerService: Service = {
    ...getService(),
    notificationQueue: {
      send: async (notifications) => enqueue(structuredClone([...notifications]) as QueuedNotification[]),
    },
    container: {},
  };
  const stopObserving = observeChanges(routerService, ({ appName, change }) =>
    changes.set(appName, [...(changes.get(appName) ?? []), change]),
  );
  return { routerService, changes, stopObserving };
}
