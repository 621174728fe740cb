import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buyValidated } from '../../testing/buy-validated.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationServer, startNotificationServer } from '../../testing/notification-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

/** A validated subscription whose store posts its notifications to the service. */
interface NotifiedSubscription {
  readonly keys: IssuedApiKeys;
  readonly username: string;
  readonly purchaseId: string;
  /** Performs an action of the store, processes its notifications and returns the purchase. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  act(action: string, details?: object): Promise<any>;
}

/** The service with its notification endpoints and its queues. */
export interface NotificationFixture extends TestService {
  readonly server: NotificationServer;
  readonly queues: WorkQueues;
  /** Creates an app to which a store posts its notifications. `changes` replace fields of the store's settings. */
  createNotifiedApp(platform: Platform, changes?: object): Promise<IssuedApiKeys>;
  /** Waits until the stores have posted their notifications, and runs the workers. */
  processNotifications(): Promise<void>;
  /** Calls `GET /v3/purchases/:purchaseId` with its notifications. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  fetchPurchase(keys: IssuedApiKeys, purchaseId: string): Promise<any>;
  /** Buys and validates a subscription of a new app. */
  givenSubscription(platform: Platform): Promise<NotifiedSubscription>;
}

/** The product id of a subscription in each store that pushes notifications. */
export const notifyingPlatforms = {
  store_a: 'premium',
  store_b: 'premium',
  processor_a: 'basic',
  service_processor_a: 'basic',
  processor_b: 'monthly',
} as const satisfies Partial<Record<Platform, string>>;

/** Lists the reasons of a purchase's notifications, oldest first. */
export const listReasons = (purchase: { notifications: { reason: string }[] }): string[] =>
  purchase.notifications.map(({ reason }) => reason);

export async function startNotificationFixture(): Promise<NotificationFixture> {
  const service = await startTestService();
  const queues = await startWorkQueues();
  const server = await startNotificationServer();
  const createNotifiedApp = async (platform: Platform, changes: object = {}) => {
    const keys = await service.createApp([platform], changes);
    await service.setNotificationUrl(platform, `${server.url}/v3/webhook/${platform}/${keys.appName}`);
    return keys;
  };
  const processNotifications = async () => {
    await service.waitUntilNotified();
    await queues.drain();
  };
  const fetchPurchase = async (keys: IssuedApiKeys, purchaseId: string) =>
    (
      await callWithSecretKey(getPurchase, keys, {
        params: { purchaseId },
        query: { include_notifications: 'true' },
      })
    ).body;
  return {
    ...service,
    server,
    queues,
    createNotifiedApp,
    processNotifications,
    fetchPurchase,
    async givenSubscription(platform) {
      const keys = await createNotifiedApp(platform);
      const username = createUniqueName('user');
      const productId = notifyingPlatforms[platform as keyof typeof notifyingPlatforms];
      const order = { platform, productId, type: 'paid subscription', applicationUsername: username };
      const { id, purchaseId, ...bought } = await buyValidated(service, keys, order);
      await processNotifications();
      const act = async (action: string, details: object = {}) => {
        const { id: changedId } = await bought.act(action, details);
        await processNotifications();
        return await fetchPurchase(keys, changedId === id ? purchaseId : `${platform}:${changedId}`);
      };
      return { keys, username, purchaseId, act };
    },
    async close() {
      await server.close();
      await queues.close();
      await service.close();
    },
  };
}
