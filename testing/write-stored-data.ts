import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { startLocal } from '../local/start-local.ts';
import { startTableEngine } from '../local/table-engine/start-table-engine.ts';
import { buildBasicAuth } from './call.ts';
import { callLocalControl, type Json } from './call-local.ts';
import { runCommand } from './command-line.ts';

/*
 * Writes the stored items of a short history with all stores, and the responses of the service about them:
 *
 *   node --import tsx testing/write-stored-data.ts <folder> <name>
 *
 * `test/acceptance/stored-data.test.ts` shows that later releases read the same. A copy of this file runs in the
 * checkout of an earlier release, so it uses the API, the emulator and the commands only.
 */

/** Binary attributes in the written items. */
export interface StoredBinary {
  readonly $binary: string;
}

export interface RecordedAnswers {
  /** Time of the service in all responses. */
  readonly now: number;
  readonly appName: string;
  readonly secretKey: string;
  readonly masterKey: string;
  /** Bodies by path. */
  readonly answers: Readonly<Record<string, Json>>;
}

const [folder = '.', name = 'stored'] = process.argv.slice(2);

const monthly = { productId: 'premium', type: 'paid subscription', period: 'P1M', autoRenew: true };
const purchases = {
  ann: { ...monthly, platform: 'store_a', priceMicros: 9_990_000, currency: 'USD' },
  ben: { ...monthly, platform: 'store_b', priceMicros: 8_990_000, currency: 'EUR' },
  cleo: { ...monthly, platform: 'store_c', productId: '9NBLGGH5W123', priceMicros: 7_990_000, currency: 'EUR' },
  dana: { ...monthly, platform: 'processor_a', priceMicros: 6_990_000, currency: 'GBP' },
  eve: { ...monthly, platform: 'processor_b', productId: 'monthly' },
  finn: { ...monthly, platform: 'store_a', trial: 'P7D', priceMicros: 9_990_000, currency: 'USD' },
  'guest-1': { ...monthly, platform: 'store_b', priceMicros: 8_990_000, currency: 'EUR' },
  zoe: { ...monthly, platform: 'store_b', priceMicros: 8_990_000, currency: 'EUR' },
  ida: { platform: 'store_a', productId: 'coins', type: 'consumable', priceMicros: 990_000, currency: 'USD' },
  jon: {
    platform: 'store_b',
    productId: 'full_version',
    type: 'non consumable',
    priceMicros: 4_990_000,
    currency: 'EUR',
  },
} as const;
type Customer = keyof typeof purchases;

const readPaths = (ids: {
  purchases: readonly string[];
  transactions: readonly string[];
  requests: readonly string[];
}) => [
  // First, because each of the other reads writes an event.
  ...[
    '/v3/stats',
    '/v2/stats',
    '/v3/apps/demo/stats',
    '/v3/stats/breakdown?by=platform&interval=month',
    '/v3/stats/breakdown?by=product&interval=month',
  ],
  ...['mrr', 'churn', 'retention', 'ltv', 'conversion'].flatMap((figure) => [
    `/v3/stats/${figure}?startdate=2031-01-01&enddate=2031-03-31`,
    `/v3/stats/${figure}?startdate=2031-01-01&enddate=2031-03-31&by=product`,
  ]),
  '/v3/stats/breakdown?by=platform&sandbox=true&interval=month',
  '/v3/search/ann',
  '/v3/webhooks/deliveries',
  ...['/v3/customers', '/v3/purchases', '/v3/transactions', '/v3/purchases?include_notifications=true'],
  ...['/v3/due', '/v3/app', '/v3/app/keys', '/v3/catalogue', '/v3/forwards', '/v3/refund-requests'],
  ...[...Object.keys(purchases), 'owner-2', 'lea'].flatMap((customer) =>
    ['', '/purchases', '/subscription', '/transactions', '/claims', '/timeline', '/entitlements', '/grants'].map(
      (part) => `/v3/customers/${customer}${part}`,
    ),
  ),
  '/v3/customers/ann/why?entitlement=premium',
  ...ids.purchases.flatMap((id) =>
    ['', '/owners', '/refresh_token'].map((part) => `/v3/purchases/${encodeURIComponent(id)}${part}`),
  ),
  ...ids.transactions.slice(0, 8).map((id) => `/v3/transactions/${encodeURIComponent(id)}`),
  ...ids.requests.map((id) => `/v3/refund-requests/${id}`),
];

// Responses of the emulated stores on a busy machine must not exceed the time limits of store calls.
process.env.STORE_TIME_FACTOR ??= '20';
const engine = await startTableEngine();
process.env.DYNAMODB_ENDPOINT = engine.endpoint;
const dataFolder = mkdtempSync(join(tmpdir(), 'claimcheck-stored-'));
const service = await startLocal({ folder: dataFolder, log: () => {}, onWebhook: () => {} });
try {
  await playHistory();
  mkdirSync(folder, { recursive: true });
  const items = await scanWhenQuiet();
  // The central bank has the rates of many days before the history.
  const used = items.filter(({ pk, sk }) => pk !== 'FX' || String(sk) >= '2031');
  const lines = used.map((item) => JSON.stringify(item)).sort();
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, `${name}.answers.json`), formatAnswers(await recordAnswers()));
} finally {
  await service.close();
  await engine.close();
  rmSync(dataFolder, { recursive: true, force: true });
}

async function control(path: string, body?: object): Promise<Json> {
  return await callLocalControl(service, path, body);
}

async function call(path: string, { method = 'GET', body, isPublic = false }: CallOptions = {}): Promise<Json> {
  const headers = buildBasicAuth(service.appName, isPublic ? service.publicKey : service.secretKey);
  const init = body ? { method: method === 'GET' ? 'POST' : method, body: JSON.stringify(body) } : { method };
  const response = await fetch(service.baseUrl + path, { ...init, headers });
  const answer = (await response.json()) as Json;
  if (!response.ok) throw new Error(`${init.method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
interface CallOptions {
  readonly method?: string;
  readonly body?: object;
  readonly isPublic?: boolean;
}

async function validate(body: object): Promise<void> {
  const { ok, message } = await call('/v1/validate', { body, isPublic: true });
  if (ok !== true) throw new Error(`A validation failed: ${message}`);
}

async function moveClock(change: object): Promise<void> {
  await control('/clock', change);
  await waitUntilProcessed();
}

/** Waits for notifications and refreshes. What the service cannot post stays in its queue until the clock moves. */
async function waitUntilProcessed(): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const { notifications } = await control('/notifications?state=waiting');
    const isPosted = (notifications as Json[]).every(({ attempts }) => attempts.length > 0);
    const queues = Object.keys(await service.countQueuedMessages());
    quiet = isPosted && queues.every((queue) => /webhook|forward/.test(queue)) ? quiet + 1 : 0;
    await setTimeout(200);
  }
}

async function playHistory(): Promise<void> {
  const bought = new Map<Customer, { readonly id: string; readonly validate: Json }>();
  const buy = async (customer: Customer): Promise<void> => {
    const purchase = await control('/purchases', { ...purchases[customer], applicationUsername: customer });
    bought.set(customer, { id: String(purchase.id), validate: purchase.validate });
    await validate(purchase.validate);
    await waitUntilProcessed();
  };
  const act = async (customer: Customer, action: string, details: object = {}): Promise<void> => {
    await control(`/purchases/${bought.get(customer)?.id}/${action}`, details);
    await waitUntilProcessed();
  };
  await moveClock({ set: '2031-01-05T10:00:00Z' });
  await call('/v3/catalogue', {
    method: 'PUT',
    body: {
      premium: { type: 'paid subscription', entitlements: ['premium'] },
      full_version: { type: 'non consumable', entitlements: ['full'] },
    },
  });
  await call('/v3/forwards', {
    method: 'PUT',
    body: [{ url: 'https://old.example.invalid/stores', platforms: ['store_b'] }],
  });
  for (const customer of ['ann', 'ben', 'cleo', 'dana', 'eve', 'finn'] as const) await buy(customer);
  // A second claim of a purchase.
  const { additionalData: _additionalData, ...body } = bought.get('ann')?.validate ?? {};
  await validate({ ...body, additionalData: { applicationUsername: 'owner-2' } });
  // A purchase that a store reports, and that no customer claims.
  await control('/purchases', { ...purchases.ann, applicationUsername: 'gus' });
  await moveClock({ advance: 'P3D' });
  for (const customer of ['guest-1', 'zoe', 'ida', 'jon'] as const) await buy(customer);
  await checkOut();
  await call('/v3/customers/ann/grants', {
    body: { entitlement: 'premium', reason: 'Beta tester', idempotencyKey: 'grant-1' },
  });
  await call('/v3/customers/jon/grants', {
    body: { entitlement: 'beta', reason: 'Raffle', until: '2031-06-01T00:00:00.000Z' },
  });
  await call('/v3/customers/ann/refund-consent', { method: 'PUT', body: { consented: true } });
  await call('/v3/customers/ann/entitlements/token', { body: {} });
  await call('/v3/app/keys', { body: { level: 'viewer', name: 'support', validDays: 90 } });
  await act('ann', 'request-refund', { reason: 'UNINTENDED_PURCHASE' });
  await call('/v3/customers/ann/merge', { body: { from: 'guest-1' } });
  await runCommand(service.environment, ['customer', 'erase', 'demo', 'zoe', '--confirm', 'zoe', '--wait', '1']);
  const { id } = await control('/purchases', { ...purchases.ben, applicationUsername: 'lea' });
  const rows = `platform,user,productId,token\nstore_b,lea,premium,${id}\n`;
  await runCommand(service.environment, ['import', 'demo', '-'], rows);
  await act('finn', 'cancel');
  await moveClock({ advance: 'P9D' });
  await act('ben', 'request-refund', { reason: 'OTHER' });
  await act('dana', 'refund');
  await act('jon', 'refund', { amountMicros: 1_000_000 });
  await moveClock({ advance: 'P20D' });
  await act('eve', 'fail-payment');
  await moveClock({ advance: 'P16D' });
  await act('cleo', 'cancel');
  // Rejected credentials, and a validation with an error.
  await fetch(`${service.baseUrl}/v3/app`, { headers: buildBasicAuth('demo', 'wrong') });
  await call('/v1/validate', { body: { id: 'premium', type: 'no type', transaction: {} }, isPublic: true });
  await moveClock({ advance: 'P14D' });
}

/** Pays at Stripe, opens the portal, and creates a client token of Braintree. */
async function checkOut(): Promise<void> {
  const prices = await call('/v3/processor_a/prices', { isPublic: true });
  const offerId = (prices.products as Json[]).flatMap(({ offers }) => offers as Json[])[0]?.id;
  const urls = { successUrl: 'https://app.example.com/ok', cancelUrl: 'https://app.example.com/no' };
  const order = { offerId, applicationUsername: 'dana', ...urls };
  const { sessionId } = await call('/v3/processor_a/checkout', { body: order, isPublic: true });
  await control(`/checkouts/${sessionId}/pay`, {});
  await call('/v3/processor_b/client-token', { body: { applicationUsername: 'eve' }, isPublic: true });
  await waitUntilProcessed();
}

/** Scans the table until no function writes. */
async function scanWhenQuiet(): Promise<Json[]> {
  const { TABLE_NAME = '', AWS_REGION: region = '' } = service.environment;
  // The operator's policy does not allow a scan: the client calls the engine without the proxy of the policies.
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: engine.endpoint, region, credentials }));
  for (let last = ''; ; ) {
    const items: Json[] = [];
    for await (const { Items = [] } of paginateScan({ client }, { TableName: TABLE_NAME, ConsistentRead: true }))
      items.push(...Items.map((item) => encodeAttributes(item) as Json));
    const text = items
      .map((item) => JSON.stringify(item))
      .sort()
      .join('\n');
    if (text === last) return items;
    last = text;
    await setTimeout(3_000);
  }
}

/** Encodes binary attributes, and sorts members, because a table engine can return them in any order. */
function encodeAttributes(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $binary: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(encodeAttributes);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, encodeAttributes(member)]));
}

/** Returns JSON with one line for each response. */
function formatAnswers({ answers, ...header }: RecordedAnswers): string {
  const lines = Object.entries(answers).map((entry) => entry.map((part) => JSON.stringify(part)).join(': '));
  return `${JSON.stringify(header).slice(0, -1)}, "answers": {\n${lines.join(',\n')}\n}}\n`;
}

async function recordAnswers(): Promise<RecordedAnswers> {
  const answers: Record<string, Json> = {};
  const headers = buildBasicAuth(service.appName, service.secretKey);
  const read = async (path: string): Promise<Json> =>
    (await (await fetch(service.baseUrl + path, { headers })).json()) as Json;
  const now = Date.parse(String((await control('/clock')).now));
  for (const path of readPaths({ purchases: [], transactions: [], requests: [] })) answers[path] = await read(path);
  const listRows = (path: string): Json[] => (answers[path]?.rows ?? []) as Json[];
  const ids = {
    purchases: listRows('/v3/purchases').map(({ purchaseId }) => String(purchaseId)),
    transactions: listRows('/v3/transactions').map(({ transactionId }) => String(transactionId)),
    requests: listRows('/v3/refund-requests').map(({ id }) => String(id)),
  };
  for (const path of readPaths(ids)) answers[path] ??= await read(path);
  const { appName, secretKey, environment } = service;
  const { secrets } = JSON.parse(readFileSync(join(dataFolder, 'state.json'), 'utf8')) as { secrets: Json };
  return { now, appName, secretKey, masterKey: String(secrets[environment.MASTER_KEY_ID ?? '']), answers };
}
