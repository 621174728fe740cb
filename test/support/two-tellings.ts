import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent, SQSEvent } from 'aws-lambda';
import { handler as receive } from '../../functions/notifications/receive.ts';
import { handler as processNotifications } from '../../functions/workers/process-notification.ts';
import { type Deps, deps } from '../../lib/deps.ts';
import type { IncomingNotification } from '../../lib/incoming/incoming-notification.ts';
import type { Change } from '../../lib/purchases/change.ts';
import type { Platform } from '../../lib/purchases/platform.ts';
import type { TestService } from './service.ts';

/** What was written of a purchase, in the order in which it was. */
interface Written {
  readonly app: string;
  readonly change: Change;
}

/** Applications that hear the same notifications of the emulated stores, through a queue whose order the test chooses. */
export interface Tellings {
  /** Which applications hear of everything from now on. */
  tellTo(apps: readonly string[]): void;
  /** Waits until the stores have posted all that they have to post now. */
  posted(): Promise<void>;
  /** Takes what is queued for an application off the queue, oldest first. */
  take(app: string): IncomingNotification[];
  /** Has the worker process messages, one after the other; throws when it gives one back. */
  process(messages: readonly IncomingNotification[]): Promise<void>;
  /** Every change that was written, of all applications. */
  readonly written: Written[];
  close(): Promise<void>;
}

/** Starts to listen to the platforms' notifications, in place of the service's queue. */
export async function startTellings(service: TestService, platforms: readonly Platform[]): Promise<Tellings> {
  const written: Written[] = [];
  let queued: IncomingNotification[] = [];
  let apps: readonly string[] = [];
  const { purchases } = deps();
  const tools: Partial<Deps> = {
    notificationsQueue: {
      send: async (messages) => void queued.push(...messages.map((message) => structuredClone(message))),
    },
    purchases: {
      ...purchases,
      async record(app, purchaseId, happened) {
        const recorded = await purchases.record(app, purchaseId, happened);
        if (recorded?.change) written.push({ app, change: recorded.change });
        return recorded;
      },
    },
  };
  Object.assign(deps(), tools);
  const listener = await listen(() => apps);
  for (const platform of platforms) await notifyAt(service, platform, `${listener.url}/v3/webhook/${platform}/`);
  return {
    written,
    tellTo(chosen) {
      apps = chosen;
    },
    posted: async () => await allPosted(service),
    take(app) {
      const taken = queued.filter((message) => message.app === app);
      queued = queued.filter((message) => message.app !== app);
      return taken;
    },
    process,
    close: listener.close,
  };
}

async function process(messages: readonly IncomingNotification[]): Promise<void> {
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
    const answers = await Promise.all(apps().map(async (app) => await receive(eventOf(request, app, body))));
    response.writeHead(Math.max(200, ...answers.map(({ statusCode }) => statusCode))).end();
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

const eventOf = ({ url, headers }: IncomingMessage, app: string, body: string): APIGatewayProxyEvent =>
  ({ httpMethod: 'POST', path: `${url}${app}`, headers, body, isBase64Encoded: false }) as APIGatewayProxyEvent;

const notifyAt = async ({ emulatorUrl }: TestService, platform: string, url: string): Promise<void> => {
  await fetch(`${emulatorUrl}/control/notifications/${platform}`, { method: 'PUT', body: JSON.stringify({ url }) });
};

interface Posting {
  readonly state: string;
  readonly attempts: readonly { readonly status?: number }[];
}

async function allPosted(service: TestService): Promise<void> {
  for (;;) {
    const { notifications } = (await service.control('/notifications')) as { notifications: readonly Posting[] };
    const refused = notifications.find(({ attempts }) => attempts.some(({ status }) => status !== 200));
    if (refused) throw new Error(`A notification was not taken: ${JSON.stringify(refused)}`);
    if (!notifications.some(({ state }) => state === 'waiting')) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
