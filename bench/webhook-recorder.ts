import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { startHttpServer } from '../local/http-server.ts';

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
  let webhook: Webhook | undefined;
  const server = await startHttpServer(async (request, response) => {
    const body = await text(request);
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers;
    // `verify` would compare the timestamp with the clock of this process, but the emulator moves the service's clock.
    if (!webhook || webhook.sign(String(id), new Date(Number(timestamp) * 1000), body) !== signature) {
      response.writeHead(401).end();
      return;
    }
    const { reason = 'TEST', purchaseId = '' } = JSON.parse(body).notification ?? {};
    webhooks.push({ receivedAt: performance.now(), reason, purchaseId });
    response.end();
  });
  return {
    url: `${server.url}/webhooks`,
    webhooks,
    setSecret(secret: string) {
      webhook = new Webhook(secret);
    },
    close: server.close,
  };
}
