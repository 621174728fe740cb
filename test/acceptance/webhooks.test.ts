import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import {
  type ApplicationServer,
  type ReceivedRequest,
  startApplicationServer,
} from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';

const told: string[] = [];
let service: LocalService;
let server: ApplicationServer;
beforeAll(async () => {
  server = await startApplicationServer();
  service = await startLocal({ onWebhook: (line) => told.push(line) });
}, 60_000);
afterAll(async () => {
  await service?.close();
  await server?.close();
});

const run = promisify(execFile);
async function cli(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'cli/main.ts', ...args], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, ...service.environment },
  });
  return stdout;
}

const secret = () => buildBasicAuth(service.appName, service.secretKey);

/** Buys a subscription in the emulated store and has its receipt validated. */
async function buy(applicationUsername: string): Promise<void> {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  const init = { method: 'POST', body: JSON.stringify(order) };
  const { validate } = (await (await fetch(`${service.emulatorUrl}/control/purchases`, init)).json()) as {
    validate: object;
  };
  const headers = buildBasicAuth(service.appName, service.publicKey);
  await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
}

/** The first that is found, within 20 seconds. */
async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < 200; waited++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('It did not happen within 20 seconds.');
}

const taken = (username: string, reason: string): ReceivedRequest[] =>
  server.requests.filter(({ body }) => {
    const { applicationUsername, notification } = JSON.parse(body);
    return applicationUsername === username && notification?.reason === reason;
  });

const bothOf = ([first, second]: readonly ReceivedRequest[]): readonly [ReceivedRequest, ReceivedRequest] | undefined =>
  first && second && [first, second];

it('prints the webhooks of the demo application until it has a server of its own', async () => {
  await buy('anna');
  const line = await eventually(() => told.find((one) => one.includes('anna')));
  expect(line).toMatch(/^Webhook {2}\w+ {2}anna owns store_a:premium active until 20/);
}, 40_000);

it('tells the server of a validation, signed, once more after it failed, and of a past request again', async () => {
  const out = await cli('app', 'set-webhook', service.appName, '--url', `${server.url}/hook`);
  const signingSecret = /whsec_\S+/.exec(
    await cli('app', 'set-webhook', service.appName, '--url', `${server.url}/hook`, '--new-secret'),
  )?.[0];
  expect(out).not.toContain('whsec_');
  if (!signingSecret) throw new Error('no signing secret was shown');
  await cli('app', 'test-webhook', service.appName);
  const test = await eventually(() => server.requests[0]);
  expect(JSON.parse(test.body)).toEqual({ type: 'test', password: service.secretKey });

  server.respondWith(() => ({ status: taken('bert', 'RECEIPT_VALIDATED').length === 1 ? 503 : 200 }));
  await buy('bert');
  const [validated, again] = await eventually(() => bothOf(taken('bert', 'RECEIPT_VALIDATED')));
  expect(again.headers['webhook-id']).toBe(validated.headers['webhook-id']);
  const verified = new Webhook(signingSecret).verify(validated.body, validated.headers as Record<string, string>);
  expect(verified).toEqual({
    type: 'purchases.updated',
    password: service.secretKey,
    notification: {
      reason: 'RECEIPT_VALIDATED',
      id: expect.any(String),
      date: expect.stringMatching(/^20.*Z$/),
      productId: 'store_a:premium',
      purchaseId: expect.stringMatching(/^store_a:/),
      transactionId: expect.stringMatching(/^store_a:/),
    },
    applicationUsername: 'bert',
    purchases: { 'store_a:premium': expect.objectContaining({ productId: 'store_a:premium', isExpired: false }) },
  });

  const { notification } = JSON.parse(validated.body);
  const repeat = async (path: string, reqId: string) =>
    await fetch(`${service.baseUrl}${path}`, { method: 'POST', headers: secret(), body: JSON.stringify({ reqId }) });
  await eventually(async () => ((await repeat('/v3/notifier/app-webhook', notification.id)).ok ? true : undefined));
  const repeated = await eventually(() => taken('bert', 'REPEATED')[0]);
  expect(JSON.parse(repeated.body).notification.id).not.toBe(notification.id);
  expect((await repeat('/v3/notifier/app-webhooks', 'no-such-request')).status).toBe(404);

  const search = await fetch(`${service.baseUrl}/v3/search/bert`, { headers: secret() });
  const text = await search.text();
  expect(text).toContain('webhook.app.called');
  expect(text).not.toContain(service.secretKey);
}, 80_000);
