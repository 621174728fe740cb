import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readApiExamples } from '../../infra/api-examples.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import type { LocalService } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

/** The functions that record purchases. */
const recorders = [
  'CustomersEndpointsaddcustomerpurchase',
  'CustomersEndpointsmergecustomer',
  'EntitlementsEndpointscreateentitlementtoken',
  'EntitlementsEndpointsgetcustomerentitlements',
  'PurchasesEndpointsactonpurchase',
  'PurchasesEndpointsrefreshpurchasenow',
  'StripeEndpointschangeplan',
  'StripeEndpointsgetprocessorpurchases',
  'ValidationEndpointsvalidatereceipt',
  'ValidationEndpointsverifypurchase',
  'Workersprocessnotification',
  'Workersrefreshpurchase',
];

/** Functions that have written the item of a purchase since the set was cleared. */
const purchaseWriters = new Set<string>();
// Each test calls many functions, on a machine that can be busy.
jest.setTimeout(30 * minuteMs);

let service: LocalService;

/** Receives forwards. */
let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer(async (_request, response) => void response.writeHead(200).end());
  service = await startLocalService({
    onAccess: (caller, { leadingKeys = [] }) => {
      const isPurchase = (key: string) => /^[^#]+#P#/.test(key);
      if (leadingKeys.some(isPurchase)) purchaseWriters.add(caller.replace(/Function[0-9A-F]*$/, ''));
    },
  });
});
afterAll(async () => {
  await service?.close();
  await server.close();
});

const control = async (path: string, body?: object): Promise<Json> => await callLocalControl(service, path, body);

/** Calls that failed. */
const failures: string[] = [];

interface CallOptions {
  readonly method?: string;
  readonly body?: object | undefined;
  /** Default: the secret key. */
  readonly key?: string;
}

async function callService(path: string, options: CallOptions = {}): Promise<Json> {
  const { body, key = service.secretKey, method = body ? 'POST' : 'GET' } = options;
  const init = { method, headers: buildBasicAuth(service.appName, key), ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(service.baseUrl + path, init);
  const content = (await response.json()) as Json;
  if (!response.ok || content.ok === false)
    failures.push(`${method} ${path.split('?')[0]}: ${JSON.stringify(content)}`);
  return content;
}

const validate = async (body: object): Promise<Json> => await callService('/v1/validate', { body });

async function setNotificationUrl(url: string | null): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify({ url }) };
  const response = await fetch(`${service.emulatorUrl}/control/notifications/processor_a`, init);
  expect(response.status).toBeLessThan(300);
}

const products = {
  store_a: 'premium',
  store_b: 'premium',
  store_c: '9NBLGGH5W123',
  processor_a: 'premium',
  service_processor_a: 'premium',
  processor_b: 'monthly',
} as const;

const catalogue = JSON.stringify({ premium: { type: 'paid subscription' }, monthly: { type: 'paid subscription' } });

const buy = async (platform: string, productId: string, applicationUsername: string): Promise<Json> =>
  await control('/purchases', { platform, productId, type: 'paid subscription', applicationUsername, autoRenew: true });

/** Buys and validates a subscription of each store, cancels it and resumes it. */
async function buyEverywhere(username: string): Promise<void> {
  for (const [platform, productId] of Object.entries(products)) {
    const order = await buy(platform, productId, username);
    await validate(order.validate);
    for (const action of ['cancel', 'uncancel']) await control(`/purchases/${order.id}/${action}`, {});
  }
}

const pages = { successUrl: 'https://app.example.com', cancelUrl: 'https://app.example.com' };

async function listOffers(username: string): Promise<string[]> {
  // The emulator creates the price of a product when it is first bought.
  await buy('processor_a', 'gold', `${username}-2`);
  const { products: priceList } = await callService('/v3/processor_a/prices');
  return priceList.flatMap(({ offers }: Json) => offers).map(({ id }: Json) => id);
}

/** Pays checkouts whose notifications are lost, so that each of these endpoints is the first to record a purchase. */
async function payCheckouts(offerId: string, username: string): Promise<{ accessToken: string }> {
  const customer = `/v3/customers/${username}`;
  const pay = async (): Promise<string> => {
    const checkout = { offerId, applicationUsername: username, ...pages };
    const { accessToken, sessionId } = await callService('/v3/processor_a/checkout', { body: checkout });
    await control(`/checkouts/${sessionId}/pay`, {});
    return accessToken;
  };
  const key = service.publicKey;
  await setNotificationUrl(null);
  await callService(`${customer}/entitlements?accessToken=${await pay()}`, { key });
  await callService(`${customer}/entitlements/token`, { key, body: { accessToken: await pay() } });
  const accessToken = await pay();
  await callService(`/v3/processor_a/purchases?accessToken=${accessToken}`);
  return { accessToken };
}

/** Returns values for the parameters of endpoint paths. */
async function listPathParams(username: string): Promise<Readonly<Record<string, string>>> {
  const findDeliveries = async (): Promise<Json> => (await callService('/v3/webhooks/deliveries')).rows;
  const [delivery] = (await waitFor('a webhook delivery', findDeliveries, ({ length }) => length > 0)) as Json[];
  const [{ rows: purchases }, { rows: transactions }, { rows: events }] = await Promise.all([
    callService('/v3/purchases'),
    callService('/v3/transactions'),
    callService(`/v3/search/${username}`),
  ]);
  return {
    applicationUsername: username,
    appName: service.appName,
    purchaseId: purchases.find(({ platform }: Json) => platform === 'store_a').purchaseId,
    transactionId: transactions.at(-1).transactionId,
    eventId: events[0].eventId,
    deliveryId: delivery?.deliveryId,
    tag: username,
    platform: 'store_a',
  };
}

/** Requests the refund of a consumable and returns the id of the request. */
async function requestRefund(username: string): Promise<string> {
  const coins = { platform: 'store_a', productId: 'coins', type: 'consumable', applicationUsername: username };
  const order = await control('/purchases', coins);
  await validate(order.validate);
  await control(`/purchases/${order.id}/request-refund`, {});
  await control(`/purchases/${order.id}/rescind-consent`, {});
  const findRequests = async (): Promise<Json[]> => (await callService('/v3/refund-requests?state=open')).rows;
  const [request] = await waitFor('the refund request', findRequests, ({ length }) => length > 0);
  return request?.id;
}

const { operations: examples } = readApiExamples();

/** Calls every endpoint with a request that succeeds, for a customer who has bought everywhere. */
async function callEndpoints(username: string): Promise<void> {
  const [offerId = '', otherOfferId] = await listOffers(username);
  const { accessToken } = await payCheckouts(offerId, username);
  const grant = { entitlement: 'pro', reason: 'tester' };
  const { grantId } = await callService(`/v3/customers/${username}/grants`, { body: grant });
  const coins = (idempotencyKey: string) => ({ credit: 'coins', amount: 1, idempotencyKey, reason: 'tester' });
  const changeCredits = async (operation: string, body: object): Promise<Json> =>
    await callService(`/v3/customers/${username}/credits/${operation}`, { body });
  await changeCredits('give', { ...coins('gift'), amount: 10 });
  const holdIds: Readonly<Record<string, string>> = {
    'capture-credits': (await changeCredits('spend', { ...coins('first'), hold: true })).holdId,
    'release-credits': (await changeCredits('spend', { ...coins('second'), hold: true })).holdId,
  };
  const { id: annotationId } = await callService('/v3/annotations', { body: examples['create-annotation']?.body });
  const { id: keyId } = await callService('/v3/app/keys', { body: { level: 'viewer', name: `revoked ${username}` } });
  const params: Readonly<Record<string, string>> = {
    ...(await listPathParams(username)),
    grantId,
    keyId,
    annotationId,
  };
  const { purchaseToken } = (await buy('store_b', 'premium', `${username}-3`)).validate.transaction;
  const bodies: Readonly<Record<string, object | undefined>> = {
    ...Object.fromEntries(Object.entries(examples).map(([id, { body }]) => [id, body])),
    'verify-purchase': { store: 'google', purchaseToken, applicationUsername: `${username}-3` },
    'set-forwards': [{ url: server.url }],
    'set-webhook': { urls: [server.url] },
    'create-key': { level: 'viewer', name: `created ${username}` },
    'change-app': { unverifiedHours: 24, alertUrl: server.url },
    'set-store': (await (await fetch(`${service.emulatorUrl}/control/settings/store_c`)).json()) as object,
    'validate-receipt': (await buy('store_a', 'premium', `${username}-2`)).validate,
    'add-customer-purchase': { purchaseId: params.purchaseId },
    'merge-customer': { from: `${username}-2` },
    'repeat-webhook': { reqId: params.eventId },
    'create-checkout': { offerId, ...pages },
    'create-portal': { accessToken, returnUrl: 'https://app.example.com' },
    'change-plan': { accessToken, offerId: otherOfferId },
    'create-client-token': { applicationUsername: username },
    'create-grant': grant,
    'give-credits': coins('given'),
    'spend-credits': coins('spent'),
    'take-credits': coins('taken'),
    'capture-credits': { amount: 1 },
    'set-catalogue': {},
    'sign-offer': { kind: 'promotional', productId: 'premium', offerId: 'welcome', applicationUsername: username },
    'act-on-purchase': { action: 'finish', reason: 'tester', idempotencyKey: `finish-${username}` },
  };
  const idParams: Readonly<Record<string, string | undefined>> = {
    webhooks: params.deliveryId,
    refunds: await requestRefund(username),
  };
  for (const { id, area, method, path } of contracts) {
    const idParam = idParams[area] ?? params.eventId;
    // Settings of the emulator lack offers to sign.
    const platform = id === 'set-store' ? 'store_c' : params.platform;
    const url = path.replace(/:(\w+)/g, (_all, name: string) =>
      encodeURIComponent((name === 'id' ? idParam : { ...params, platform, holdId: holdIds[id] }[name]) ?? name),
    );
    const query = `include_notifications=true&receipts=true&accessToken=${accessToken}&q=${username}&dryRun=true`;
    const selected = id === 'explain-access' ? '&entitlement=pro' : '';
    const body = method === 'GET' || method === 'DELETE' ? undefined : (bodies[id] ?? {});
    await callService(`${url}?${query}${selected}`, { method, body });
  }
  // Until here, so that a notification does not record the changed plan before the endpoint does.
  await setNotificationUrl(`${service.baseUrl}/v3/webhook/processor_a/${service.appName}`);
}

/** Calls every endpoint, and lets every function that records purchases do so. */
async function recordEverywhere(username: string): Promise<void> {
  purchaseWriters.clear();
  await buyEverywhere(username);
  await callEndpoints(username);
  expect(failures).toEqual([]);
  for (const advance of ['PT1H', 'P1D', 'P32D']) await control('/clock', { advance });
  await waitFor('records of all functions', listRecorders, (names) => names.length === recorders.length);
  await waitUntilQueuesEmpty(service);
  expect(listRecorders()).toEqual(recorders);
}

/** Omits the worker that leases due purchases, which writes only the lease. */
const listRecorders = (): string[] => [...purchaseWriters].filter((name) => name !== 'Workersenqueuedueitems').sort();

const runCommand = async (...args: readonly string[]): Promise<string> =>
  await spawnSuccessfully(service.environment, args);

/** Adds a key at the front of the master key: see docs/operating/rotate-secrets.md. */
async function rotateMasterKey(): Promise<void> {
  const { MASTER_KEY_ID: SecretId } = service.environment;
  // The clients of this process call the server without a policy: operators do not have the permission to rotate.
  const secretsManager = new SecretsManagerClient({});
  const { SecretString: keys } = await secretsManager.send(new GetSecretValueCommand({ SecretId }));
  const SecretString = `the-later-master-key-of-this-test ${keys}`;
  await secretsManager.send(new PutSecretValueCommand({ SecretId, SecretString }));
  secretsManager.destroy();
}

/** Lists the functions that have not used a permission. `getversion` and `getconsole` need none. */
const listUnusedFunctions = (): string[] =>
  [...service.usageByFunction]
    .filter(([id, { allowed }]) => allowed.size === 0 && !/getversion|getconsole/.test(id))
    .map(([id]) => id);
const isEmpty = (names: readonly string[]): boolean => names.length === 0;

/** Waits until every function has run and all queues are empty. */
async function waitUntilProcessed(): Promise<void> {
  await waitFor('calls of all functions', listUnusedFunctions, isEmpty);
  await waitUntilQueuesEmpty(service);
}

describe('IAM policies of the functions', () => {
  it('allow every call that the functions make, even after a rotation, an erasure and a change of the catalogue', async () => {
    const { appName } = service;
    // Its tokens are encrypted with the earlier key.
    await buyEverywhere('cy');
    await validate((await buy('store_a', 'premium', 'bob')).validate);
    await rotateMasterKey();
    await runCommand('customer', 'erase', appName, 'bob', '--confirm', 'bob', '--wait', '1');
    expect(await runCommand('secrets', 'reencrypt')).toMatch(/ values? /);
    await spawnSuccessfully(service.environment, ['app', 'set-catalogue', appName, '-'], catalogue);
    // Longer than the functions cache apps and catalogues.
    await control('/clock', { advance: 'PT1M' });
    await recordEverywhere('ann');
    for (const list of ['customers', 'purchases', 'transactions'])
      await callService(`/v3/${list}?startdate=2020-01-01&applicationUsername=ann`);
    expect(failures).toEqual([]);
    await waitUntilProcessed();
    expect(listUnusedFunctions()).toEqual([]);
    expect([...service.usageByFunction].flatMap(([, { denied }]) => [...denied])).toEqual([]);
  });

  it("allow an endpoint that only reads to count rejected credentials, with the gateway's address of the client", async () => {
    const headers = buildBasicAuth(service.appName, 'a-wrong-key');
    const call = async () => await fetch(`${service.baseUrl}/v3/customers/ann/subscription`, { headers });
    // A block requires updates of the bucket in the table. Pauses between the calls would fill the bucket again.
    let retryAfter: string | null | undefined;
    while (retryAfter === undefined) {
      const responses = await Promise.all(Array.from({ length: 20 }, call));
      retryAfter = responses.find(({ status }) => status === 429)?.headers.get('retry-after');
    }
    expect(Number(retryAfter)).toBeGreaterThan(0);
    const [usage] = [...service.usageByFunction].filter(([id]) => /getcustomersubscription/.test(id));
    expect([...(usage?.[1].allowed ?? [])]).toContainEqual(expect.stringContaining('UpdateItem'));
    expect(usage?.[1].denied.size).toBe(0);
    expect(await callService('/v3/customers/ann/subscription')).toMatchObject({ applicationUsername: 'ann' });
  });
});
