import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A webhook that the app's server accepted after verifying its signature. */
interface RecordedWebhook {
  /** On the clock of `performance.now()`. */
  readonly receivedAt: number;
  readonly reason: string;
  readonly purchaseId: string;
}

/** Starts an app's server that responds with 200 to a valid signature and with 401 to any other. */
export async function startWebhookRecorder() {
  const webhooks: RecordedWebhook[] = [];
  let verify = (_body: string, _headers: Record<string, string>): void => {
    throw new Error('The signing secret is missing.');
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
    const { reason = 'TEST', purchaseId = '' } = JSON.parse(body).notification ?? {};
    webhooks.push({ receivedAt: performance.now(), reason, purchaseId });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    webhooks,
    setSecret(secret: string) {
      const webhook = new Webhook(secret);
      // `verify` would compare the timestamp with the clock of this process, but the emulator moves the service's
      // clock.
      verify = (body, { 'webhook-id': id = '', 'webhook-timestamp': timestamp, 'webhook-signature': signature }) => {
        if (webhook.sign(id, new Date(Number(timestamp) * 1000), body) !== signature)
          throw new Error('The signature is invalid.');
      };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
