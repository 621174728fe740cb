import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { type HttpServer, startHttpServer } from './http-server.ts';

/** Path that distinguishes the receiver's URL from a URL that the user has set. */
export const receiverPath = '/webhooks-of-the-demo';

const Webhook = v.object({
  type: v.string(),
  notification: v.exactOptional(v.object({ reason: v.string() })),
  applicationUsername: v.exactOptional(v.string()),
  purchases: v.exactOptional(
    v.record(
      v.string(),
      v.object({ expirationDate: v.exactOptional(v.string()), isExpired: v.exactOptional(v.boolean()) }),
    ),
  ),
});

const maxBodyBytes = 2_000_000;

/**
 * Starts the server of the demo app, which accepts every webhook and reports it as a line. Uses another port if `port`
 * is in use.
 */
export async function startWebhookReceiver(port: number, onWebhook: (line: string) => void): Promise<HttpServer> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const webhook = request.url === receiverPath ? await readWebhook(request) : undefined;
    if (webhook) onWebhook(formatWebhook(webhook));
    response.writeHead(webhook ? 200 : 400, { 'content-type': 'application/json' }).end(`{"ok":${Boolean(webhook)}}`);
  };
  const server = await startHttpServer(handle, { port }).catch(async () => await startHttpServer(handle));
  return { ...server, url: `${server.url}${receiverPath}` };
}

/** Returns undefined if the body is not a webhook. */
async function readWebhook(request: IncomingMessage): Promise<v.InferOutput<typeof Webhook> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBodyBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  const webhook = v.safeParse(v.pipe(v.string(), v.parseJson(), Webhook), Buffer.concat(chunks).toString('utf8'));
  return webhook.success ? webhook.output : undefined;
}

function formatWebhook({
  type,
  notification,
  applicationUsername,
  purchases = {},
}: v.InferOutput<typeof Webhook>): string {
  if (!notification) return `Webhook  ${type}`;
  const owned = Object.entries(purchases).map(
    ([product, { isExpired, expirationDate }]) => `${product} ${formatState(isExpired, expirationDate)}`,
  );
  const purchaseList = owned.length > 0 ? owned.join(', ') : 'nothing';
  return `Webhook  ${notification.reason}  ${applicationUsername} owns ${purchaseList}`;
}

function formatState(isExpired: boolean | undefined, expirationDate: string | undefined): string {
  if (expirationDate === undefined) return isExpired ? 'expired' : 'active';
  return isExpired ? `expired on ${expirationDate}` : `active until ${expirationDate}`;
}
