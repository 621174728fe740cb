import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A notification that arrived. */
export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server to which the emulated stores post. */
export interface NotificationReceiver {
  readonly url: string;
  /** All that arrived, the earliest first. */
  readonly received: ReceivedNotification[];
  /** How it answers from now on; 200 unless told. */
  readonly respondWith: (respond: (response: ServerResponse) => void) => void;
  /** Waits until so many arrived in all; fails when that takes more than five seconds. */
  readonly waitForCount: (count: number) => Promise<readonly ReceivedNotification[]>;
  readonly close: () => void;
}

/** Starts a server that keeps what it is sent. */
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

/** Answers with nothing but a status. */
export const respondWithStatus =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code).end();
  };

/** Waits until it is so; fails when that takes more than five seconds. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('It did not become so in five seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
