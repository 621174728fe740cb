import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A webhook as the application's server took it, its signature verified. */
export interface RecordedWebhook {
  /** By `performance.now()`. */
  readonly at: number;
  readonly id: string;
  readonly reason: string;
  readonly username: string;
  readonly purchaseId: string;
}

/** An application's server that verifies what it gets and answers 200; what no secret of the application signed is a 401. */
export async function startWebhookRecorder() {
  const caught: RecordedWebhook[] = [];
  let verify = (_body: string, _headers: Record<string, string>): void => {
    throw new Error('No secret was set.');
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const headers = request.headers as Record<string, string>;
    try {
      verify(body, headers);
    } catch {
      response.writeHead(401).end();
      return;
    }
    const { notification, applicationUsername: username = '' } = JSON.parse(body);
    const { reason = 'TEST', purchaseId = '' } = notification ?? {};
    caught.push({ at: performance.now(), id: headers['webhook-id'] ?? '', reason, username, purchaseId });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    caught,
    trust(secret: string) {
      const webhook = new Webhook(secret);
      // Not `verify`, which compares the moment with this process's clock: the service's is moved.
      verify = (body, { 'webhook-id': id = '', 'webhook-timestamp': at, 'webhook-signature': signature }) => {
        if (webhook.sign(id, new Date(Number(at) * 1000), body) !== signature) throw new Error('Not signed.');
      };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
