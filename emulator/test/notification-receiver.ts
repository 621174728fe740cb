import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { minuteMs } from '../calendar.ts';

/** Received notification. */
export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** HTTP server that receives the notifications of the emulated stores. */
export interface NotificationReceiver {
  readonly url: string;
  /** Received notifications, the earliest first. */
  readonly received: ReceivedNotification[];
  /** Sets the response to further notifications. Default: 200. */
  readonly respondWith: (respond: (response: ServerResponse) => void) => void;
  /** Waits for a total number of notifications. Throws after one minute. */
  readonly waitForCount: (count: number) => Promise<readonly ReceivedNotification[]>;
  readonly close: () => void;
}

/** Starts a server that stores the notifications. */
export async function startReceiver(): Promise<NotificationReceiver> {
  const received: ReceivedNotification[] = [];
  let respond = respondWithStatus(200);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
    respond(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    received,
    respondWith: (next) => {
      respond = next;
    },
    waitForCount: async (count) => {
      await waitUntil(() => received.length >= count);
      return received;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Creates a responder that returns only a status. */
export const respondWithStatus =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code).end();
  };

/** Polls until the condition is true. Throws after three minutes, far above the duration on a busy machine. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 3 * minuteMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Timeout waiting for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
