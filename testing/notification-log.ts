import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Notifications of the emulated stores as API Gateway would hand them to the receivers, kept until a test asks. */
export interface NotificationLog {
  readonly url: string;
  /** What came since the last time; waits for the first. */
  takeNew(): Promise<APIGatewayProxyEvent[]>;
  close(): Promise<void>;
}

export async function startNotificationLog(): Promise<NotificationLog> {
  let kept: APIGatewayProxyEvent[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const event = { httpMethod: 'POST', path: request.url, headers: request.headers, body, isBase64Encoded: false };
    kept.push(event as unknown as APIGatewayProxyEvent);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async takeNew() {
      // Several may belong to one change.
      for (let seen = -1; kept.length === 0 || kept.length !== seen; ) {
        seen = kept.length;
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      const next = kept;
      kept = [];
      return next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
