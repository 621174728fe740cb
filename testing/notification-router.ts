import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent, SQSEvent } from 'aws-lambda';
import { handler as receive } from '../functions/notifications/receive-notification.ts';
import { handler as processNotifications } from '../functions/workers/process-notification.ts';
import { type Deps, deps } from '../lib/deps.ts';
import type { PurchaseChange } from '../lib/purchases/purchase-change.ts';
import type { Platform } from '../lib/shared/platform.ts';
import type { QueuedNotification } from '../lib/store-notifications/queued-notification.ts';
import type { TestService } from './service.ts';

/** What was written of a purchase, in the order in which it was. */
interface WrittenChange {
  readonly appName: string;
  readonly change: PurchaseChange;
}

/** Applications that hear the same notifications of the emulated stores, through a queue whose order the test chooses. */
export interface NotificationRouter {
  /** Which applications hear of everything from now on. */
  routeTo(apps: readonly string[]): void;
  /** Waits until the stores have posted all that they have to post now. */
  waitUntilPosted(): Promise<void>;
  /** Takes what is queued for an application off the queue, oldest first. */
  take(appName: string): QueuedNotification[];
  /** Has the worker process messages, one after the other; throws when it gives one back. */
  process(messages: readonly QueuedNotification[]): Promise<void>;
  /** Every change that was written, of all applications. */
  readonly written: WrittenChange[];
  close(): Promise<void>;
}

/** Starts to listen to the platforms' notifications, in place of the service's queue. */
export async function startNotificationRouter(
  service: TestService,
  platforms: readonly Platform[],
): Promise<NotificationRouter> {
  const written: WrittenChange[] = [];
  let queued: QueuedNotification[] = [];
  let apps: readonly string[] = [];
  const { recordPurchase } = deps();
  const tools: Partial<Deps> = {
    notificationQueue: {
      send: async (messages) => void queued.push(...messages.map((message) => structuredClone(message))),
    },
    async recordPurchase(appName, purchaseId, input) {
      const result = await recordPurchase(appName, purchaseId, input);
      if (result?.change) written.push({ appName, change: result.change });
      return result;
    },
  };
  Object.assign(deps(), tools);
  const listener = await listen(() => apps);
  for (const platform of platforms) await notifyAt(service, platform, `${listener.url}/v3/webhook/${platform}/`);
  return {
    written,
    routeTo(chosen) {
      apps = chosen;
    },
    waitUntilPosted: async () => await areAllPosted(service),
    take(appName) {
      const taken = queued.filter((message) => message.appName === appName);
      queued = queued.filter((message) => message.appName !== appName);
      return taken;
    },
    process,
    close: listener.close,
  };
}

async function process(messages: readonly QueuedNotification[]): Promise<void> {
  for (const message of messages) {
    const Records = [{ messageId: message.eventId, body: JSON.stringify(message) }];
    const { batchItemFailures } = await processNotifications({ Records } as SQSEvent);
    if (batchItemFailures.length > 0) throw new Error(`The worker gave back ${JSON.stringify(message)}.`);
  }
}

/** A server that hands each notification to the receivers of all applications. */
async function listen(apps: () => readonly string[]): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const responses = await Promise.all(
      apps().map(async (appName) => await receive(toProxyEvent(request, appName, body))),
    );
    response.writeHead(Math.max(200, ...responses.map(({ statusCode }) => statusCode))).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const toProxyEvent = ({ url, headers }: IncomingMessage, appName: string, body: string): APIGatewayProxyEvent =>
  ({ httpMethod: 'POST', path: `${url}${appName}`, headers, body, isBase64Encoded: false }) as APIGatewayProxyEvent;

const notifyAt = async ({ emulatorUrl }: TestService, platform: string, url: string): Promise<void> => {
  await fetch(`${emulatorUrl}/control/notifications/${platform}`, { method: 'PUT', body: JSON.stringify({ url }) });
};

interface NotificationDelivery {
  readonly state: string;
  readonly attempts: readonly { readonly status?: number }[];
}

async function areAllPosted(service: TestService): Promise<void> {
  for (;;) {
    const { notifications } = (await service.callControl('/notifications')) as {
      notifications: readonly NotificationDelivery[];
    };
    const refused = notifications.find(({ attempts }) => attempts.some(({ status }) => status !== 200));
    if (refused) throw new Error(`A notification was not taken: ${JSON.stringify(refused)}`);
    if (!notifications.some(({ state }) => state === 'waiting')) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
