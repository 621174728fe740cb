import { handler } from '../functions/notifications/receive-notification.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { toProxyEvent } from './proxy-event.ts';

/** A server in front of the notification endpoints of the service, in place of API Gateway. */
export type NotificationServer = HttpServer;

/** Starts the server. If `chooseStatus` returns a status, that is the response and the service is not called. */
export const startNotificationServer = async (
  chooseStatus: () => number | undefined = () => undefined,
): Promise<NotificationServer> =>
  await startHttpServer(async (request, response) => {
    const event = await toProxyEvent(request);
    const status = chooseStatus();
    const { statusCode, headers, body } =
      status === undefined ? await handler(event) : { statusCode: status, headers: {}, body: '' };
    response.writeHead(statusCode, headers as Record<string, string>).end(body);
  });
