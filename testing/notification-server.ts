import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { handler } from '../functions/notifications/receive-notification.ts';

/** The receivers of notifications behind a server, as API Gateway would call them. */
export interface NotificationServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts it. `before` may replace the answer: a status that it gives is answered and the receiver not called. */
export async function startNotificationServer(
  before: () => number | undefined = () => undefined,
): Promise<NotificationServer> {
  const server = createServer(async (request, response) => {
    const event = await toProxyEvent(request);
    const status = before();
    const { statusCode, headers, body } =
      status === undefined ? await handler(event) : { statusCode: status, headers: {}, body: '' };
    response.writeHead(statusCode, headers as Record<string, string>).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function toProxyEvent(request: IncomingMessage): Promise<APIGatewayProxyEvent> {
  const chunks: Buffer[] = await request.toArray();
  const { pathname, searchParams } = new URL(`http://hooks${request.url}`);
  return {
    httpMethod: request.method ?? 'POST',
    path: pathname,
    headers: request.headers,
    queryStringParameters: Object.fromEntries(searchParams),
    body: Buffer.concat(chunks).toString('utf8'),
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEvent;
}
