import '../lib/foundation/disable-node-version-warning.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiExample, type ApiExamples, apiExamplesFile } from '../infra/api-examples.ts';
import { projectFolder } from '../infra/project-folder.ts';
import type { Contract } from '../lib/api/contract.ts';
import { contracts } from '../lib/contracts/index.ts';
import { startHttpServer } from '../local/http-server.ts';
import { type LocalService, startLocal } from '../local/start-local.ts';
import { buildBasicAuth } from './call.ts';
import { callLocalControl, type Json, letSettingsTakeEffect, waitUntilQueuesEmpty } from './call-local.ts';
import { spawnSuccessfully } from './command-line.ts';
import { shortenExample } from './shorten-example.ts';
import { waitFor } from './wait-for.ts';

// Runs each operation on a local service and writes its request and its response as the examples of the API document.

const username = 'alice';
const page = 'https://app.example.com';

interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Calls operations and keeps the calls that become examples. */
function createRecorder(service: LocalService) {
  const operations: Record<string, ApiExample> = {};
  const failures: string[] = [];
  const find = (id: string): Contract => {
    const contract = contracts.find((candidate) => candidate.id === id);
    if (!contract) throw new Error(`${id} is not an operation.`);
    return contract;
  };
  const call = async (id: string, { params = {}, query = {}, body }: Call = {}): Promise<Json> => {
    const { method, path: template, keyLevel } = find(id);
    const path = template.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? username));
    const search = new URLSearchParams(query).toString();
    const target = search === '' ? path : `${path}?${search}`;
    // Without an access token, the public key reads no customer.
    const keyName = keyLevel === 'public' && !target.startsWith('/v3/customers/') ? 'public' : 'secret';
    const key = keyName === 'public' ? service.publicKey : service.secretKey;
    const response = await fetch(service.baseUrl + target, {
      method,
      headers: buildBasicAuth(service.appName, key),
      ...(body && { body: JSON.stringify(body) }),
    });
    const content = (await response.json()) as Json;
    if (!response.ok || content.ok === false) failures.push(`${method} ${target}: ${JSON.stringify(content)}`);
    else operations[id] = { path: target, key: keyName, ...(body && { body }), response: content };
    return content;
  };
  return { operations, failures, call };
}

type Recorder = ReturnType<typeof createRecorder>;

const buy = async (service: LocalService, platform: string, applicationUsername: string, productId = 'premium') =>
  await callLocalControl(service, '/purchases', {
    platform,
    productId,
    type: 'paid subscription',
    applicationUsername,
    ...(platform === 'store_a' && { form: 'product' }),
  });

/** Purchases of Alice in three stores, with a renewal. */
async function recordPurchases(service: LocalService, { call }: Recorder): Promise<void> {
  await call('set-catalogue', { body: { premium: { type: 'paid subscription', entitlements: ['premium'] } } });
  await callLocalControl(service, '/clock', { advance: 'PT1M' });
  const google = await buy(service, 'store_b', 'bob');
  const { purchaseToken } = google.validate.transaction;
  await call('verify-purchase', { body: { store: 'google', purchaseToken } });
  const anonymous = await buy(service, 'store_b', 'device-1', 'gold');
  await call('validate-receipt', { body: anonymous.validate });
  const apple = await buy(service, 'store_a', username);
  await call('validate-receipt', { body: apple.validate });
  await call('merge-customer', { body: { from: 'device-1' } });
  await callLocalControl(service, `/purchases/${apple.id}/renew`, {});
  await waitUntilQueuesEmpty(service);
}

/** Sales of Stripe and the client token of Braintree. */
async function recordCheckout(service: LocalService, { call }: Recorder): Promise<void> {
  for (const productId of ['premium', 'gold']) await buy(service, 'processor_a', 'carol', productId);
  const { products } = await call('get-prices');
  const [offerId, otherOfferId] = products.flatMap(({ offers }: Json) => offers).map(({ id }: Json) => id);
  const checkout = { offerId, applicationUsername: 'dora', successUrl: page, cancelUrl: page };
  const { accessToken, sessionId } = await call('create-checkout', { body: checkout });
  await callLocalControl(service, `/checkouts/${sessionId}/pay`, {});
  await call('get-processor-purchases', { query: { accessToken } });
  await call('create-portal', { body: { accessToken, returnUrl: page } });
  await call('change-plan', { body: { accessToken, offerId: otherOfferId } });
  await call('create-client-token', { body: { applicationUsername: 'dora' } });
  await waitUntilQueuesEmpty(service);
}

async function recordGrants({ call }: Recorder): Promise<void> {
  const { id: annotationId } = await call('create-annotation', { body: { date: '2026-11-20', text: 'Release 2.0' } });
  await call('list-annotations');
  await call('delete-annotation', { params: { annotationId } });
  const { grantId } = await call('create-grant', { body: { entitlement: 'premium', reason: 'Beta tester' } });
  const params = { applicationUsername: username, grantId };
  await call('change-grant', { params, body: { until: '2030-01-01T00:00:00.000Z' } });
  await call('list-grants');
  await call('revoke-grant', { params });
}

async function recordCredits({ call }: Recorder): Promise<void> {
  const gift = { credit: 'coins', amount: 100, idempotencyKey: 'welcome-alice', reason: 'Welcome' };
  await call('give-credits', { body: gift });
  const hold = { credit: 'coins', amount: 10, hold: true };
  const first = await call('spend-credits', { body: { ...hold, idempotencyKey: 'render-1' } });
  await call('capture-credits', { params: { holdId: first.holdId }, body: { amount: 7 } });
  const second = await call('spend-credits', { body: { ...hold, idempotencyKey: 'render-2' } });
  await call('release-credits', { params: { holdId: second.holdId }, body: {} });
  const mistake = { credit: 'coins', amount: 5, idempotencyKey: 'ticket-4711', reason: 'Given by mistake' };
  await call('take-credits', { body: mistake });
  await call('spend-credits', {
    body: { credit: 'coins', amount: 20, idempotencyKey: 'order-4711', reason: 'A song' },
  });
  await call('get-customer-credits');
  await call('list-credit-history', { query: { limit: '2' } });
}

/** A chargeback in review at Google Play. */
async function recordRefundRequests(service: LocalService, { call }: Recorder): Promise<void> {
  const bought = await buy(service, 'store_b', 'erin');
  await call('validate-receipt', { body: bought.validate });
  await callLocalControl(service, `/purchases/${bought.id}/request-refund`, {});
  await waitUntilQueuesEmpty(service);
  const { rows } = await call('list-refund-requests', { query: { state: 'open' } });
  const params = { id: rows[0].id, applicationUsername: 'erin' };
  await call('set-refund-consent', { params, body: { consented: true } });
  await call('get-refund-request', { params });
  await call('answer-refund-request', { params, body: { preference: 'decline', customerConsented: true } });
}

/** Notifications of the App Store that only the app can act on. Their webhooks are due at the next minute. */
async function sendStoreRequests(service: LocalService, { call }: Recorder): Promise<void> {
  const bought = await buy(service, 'store_a', 'frank');
  await call('validate-receipt', { body: bought.validate });
  for (const action of ['rescind-consent', 'external-purchase-token'])
    await callLocalControl(service, `/purchases/${bought.id}/${action}`, {});
  await waitUntilQueuesEmpty(service);
  await callLocalControl(service, '/clock', { advance: 'PT1M' });
  await waitUntilQueuesEmpty(service);
}

async function recordWebhooks({ call }: Recorder, webhooks: readonly Json[]): Promise<Pick<ApiExamples, 'webhooks'>> {
  await call('test-webhook', { body: {} });
  const { rows } = (await waitFor(
    'delivered webhooks',
    async () => await call('list-deliveries', { query: { state: 'delivered' } }),
    (list) => list.rows.some(({ type }: Json) => type === 'test'),
  )) as Json;
  const readBody = (type: string): object => webhooks.find((body) => body.type === type) ?? {};
  await call('get-webhook-stats');
  await call('get-delivery', { params: { id: rows[0].deliveryId } });
  const { deliveryId, notification } = rows.find((row: Json) => row.type === 'purchases.updated');
  await call('replay-delivery', { params: { id: deliveryId } });
  await call('replay-deliveries', { body: { startdate: '2026-01-01', enddate: '2026-01-02' } });
  await call('repeat-webhook', { body: { reqId: notification.id } });
  await call('set-forwards', { body: [{ url: 'https://old.example.com/notifications', platforms: ['store_a'] }] });
  const storeRequests = ['refund.requested', 'consent.rescinded', 'external-purchase.token'];
  const types = ['purchases.updated', 'credits.updated', ...storeRequests, 'test'];
  return { webhooks: Object.fromEntries(types.map((type) => [type, readBody(type)])) };
}

/** Changes of settings. Returns replacements of the secrets in them. */
async function recordSettings(
  { call }: Recorder,
  { emulatorUrl }: LocalService,
  url: string,
): Promise<[recorded: string, shown: string][]> {
  const settings = (await (await fetch(`${emulatorUrl}/control/settings/store_c`)).json()) as Json;
  await call('set-store', { params: { platform: 'store_c' }, body: settings });
  await call('get-store-settings', { params: { platform: 'store_c' } });
  const { signingSecret } = await call('set-webhook', { body: { urls: [url], newSecret: true } });
  await call('change-app', { body: { unverifiedHours: 48, alertUrl: url } });
  await call('test-alert', { body: {} });
  const { id: keyId, key } = await call('create-key', { body: { level: 'viewer', name: 'alice', validDays: 90 } });
  await call('list-keys');
  await call('revoke-key', { params: { keyId } });
  return [
    [settings.clientSecret, 'abc8Q~…'],
    [signingSecret, 'whsec_…'],
    [key, 'view_…'],
  ];
}

/** The operations that read, with the ids of the recorded purchases. */
async function recordReads({ call, operations }: Recorder, appName: string): Promise<void> {
  const { rows: purchases } = await call('list-purchases', { query: { limit: '2' } });
  const { rows: transactions } = await call('list-transactions', { query: { limit: '2' } });
  const { rows: events } = await call('search-events', { params: { tag: username } });
  const validation = events.find(({ context }: Json) => context.eventType === 'receipt.validated') ?? events[0];
  const { purchaseId } = purchases.find(({ platform }: Json) => platform === 'store_a') ?? purchases[0];
  const params: Readonly<Record<string, string>> = {
    appName,
    purchaseId,
    platform: 'store_a',
    transactionId: transactions[0].transactionId,
    id: validation.eventId,
    tag: username,
  };
  const queries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    search: { q: username },
    'explain-access': { entitlement: 'premium' },
    'get-stats-breakdown': { by: 'platform' },
    'list-customers': { limit: '2' },
    'list-events': { limit: '2' },
  };
  const action = { action: 'refund', reason: 'Request of the customer', idempotencyKey: 'ticket-1234' };
  await call('act-on-purchase', { params: { purchaseId: purchases.at(-1).purchaseId }, body: action });
  await call('add-customer-purchase', { params: { applicationUsername: 'bob' }, body: { purchaseId } });
  // The demo app allows it to each customer who has validated a receipt in the last hour.
  const offer = { kind: 'promotional', productId: 'premium', offerId: 'welcome', applicationUsername: username };
  await call('sign-offer', { body: offer });
  for (const { id, method } of contracts) {
    if (operations[id]) continue;
    const query = queries[id];
    const isBodyless = method === 'GET' || method === 'DELETE';
    await call(id, { params, ...(query && { query }), ...(isBodyless ? {} : { body: {} }) });
  }
}

const webhooks: Json[] = [];
const server = await startHttpServer(async (request, response) => {
  webhooks.push(JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')));
  response.writeHead(200).end();
});
const service = await startLocal();
try {
  await spawnSuccessfully(service.environment, [
    'app',
    'set-webhook',
    service.appName,
    '--url',
    server.url,
    '--no-password',
    '--events',
    'refunds,consents,external-purchases,credits',
  ]);
  await letSettingsTakeEffect(service);
  const recorder = createRecorder(service);
  await recordPurchases(service, recorder);
  await recordCheckout(service, recorder);
  await recordGrants(recorder);
  await recordCredits(recorder);
  await sendStoreRequests(service, recorder);
  await recordRefundRequests(service, recorder);
  const bodies = await recordWebhooks(recorder, webhooks);
  const secrets = await recordSettings(recorder, service, server.url);
  await recordReads(recorder, service.appName);
  const operations = Object.fromEntries(contracts.map(({ id }) => [id, recorder.operations[id]]));
  const examples = shortenExample({ operations, ...bodies }, [
    [service.baseUrl, 'http://127.0.0.1:4000'],
    [server.url, 'https://app.example.com/webhooks'],
    [service.emulatorUrl, 'http://127.0.0.1:4001'],
    ...secrets,
  ]);
  writeFileSync(join(projectFolder, apiExamplesFile), `${JSON.stringify(examples, null, 2)}\n`);
  for (const failure of recorder.failures) console.error(failure);
  if (recorder.failures.length > 0) process.exitCode = 1;
} finally {
  await service.close();
  await server.close();
}
