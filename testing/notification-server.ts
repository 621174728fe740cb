import type { IncomingMessage, ServerResponse } from 'node:http';
import { handler } from '../functions/notifications/receive-notification.ts';
import { type HttpServer, startHttpServer } from '../local/http-server.ts';
import { toProxyEvent } from './proxy-event.ts';

/** A server in front of the notification endpoints of the service, instead of API Gateway. */
export type NotificationServer = HttpServer;

/**
 * Starts the server. If `chooseStatus` returns a status, that is the response and the service is not called. `close`
 * also waits for requests that the service is handling.
 */
export async function startNotificationServer(
  chooseStatus: () => number | undefined = () => undefined,
): Promise<NotificationServer> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const event = await toProxyEvent(request);
    const status = chooseStatus();
    const { statusCode, headers, body } =
      status === undefined ? await handler(event) : { statusCode: status, headers: {}, body: '' };
    response.writeHead(statusCode, headers as Record<string, string>).end(body);
  };
  const running = new Set<Promise<void>>();
  const server = await startHttpServer(async (request, response) => {
    const responding = respond(request, response);
    running.add(responding);
    await responding.finally(() => running.delete(responding));
  });
  return {
    ...server,
    async close() {
      await server.close();
      await Promise.allSettled(running);
    },
  };
}
