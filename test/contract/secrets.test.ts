import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { getEvent, getEventRaw, listEvents, searchEvents } from '../../lib/events/contract.ts';
import { splitIntoChunks } from '../../lib/foundation/batches.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { toKey } from '../../lib/foundation/key.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import type { Item } from '../../lib/foundation/table.ts';
import { stores } from '../../lib/stores/index.ts';
import { buildBasicAuth, type CallOptions, callEndpoint } from '../../testing/call.ts';
import { dumpItems, formatItem, isOfApp, scanItems } from '../../testing/dump-items.ts';
import { startEchoingStore } from '../../testing/echoing-store.ts';
import { createUniqueName } from '../../testing/given.ts';
import { checkSample, sampleItems } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let store: Awaited<ReturnType<typeof startEchoingStore>>;
let keys: IssuedApiKeys;

/** Lines since the previous test. */
const logLines: string[] = [];

/** Items of the app without the items of events. */
let itemCount = 0;

beforeAll(async () => {
  service = await startTestService(`secrets-${createUniqueName()}`);
  store = await startEchoingStore();
  process.env.STORE_EMULATOR_URL = store.url;
  keys = await service.createApp(Object.keys(stores) as Platform[]);
  itemCount = (await dumpItems(getService().table.name, keys.appName)).length;
  for (const level of ['log', 'info', 'warn', 'error'] as const)
    jest.spyOn(console, level).mockImplementation((...values: unknown[]) => {
      logLines.push(values.map((value) => inspect(value, { depth: null, breakLength: Infinity })).join(' '));
    });
});
afterAll(async () => {
  jest.restoreAllMocks();
  await store.close();
  await service.close();
});

const createCanary = (name: string) => `CANARY-${name}-0123456789abcdefABCDEF`;
const jws = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"CANARY":"payload of a signed message"}').toString('base64url')}.CANARYsignature`;

/** Client fields whose values must not be stored, and unknown fields. */
const secrets = {
  appStoreReceipt: createCanary('receipt'),
  transactionReceipt: createCanary('transaction-receipt'),
  purchaseToken: createCanary('purchase-token'),
  receipt: JSON.stringify({ purchaseToken: createCanary('purchase-token'), orderId: 'GPA.1', productId: 'p' }),
  signature: createCanary('signature'),
  accessToken: createCanary('access-token'),
  paymentMethodNonce: createCanary('nonce'),
  deviceData: { [createCanary('name')]: createCanary('device') },
  storeIdKey_collections: createCanary('collections-key'),
  storeIdKey_purchases: createCanary('purchases-key'),
  storeIdKey_purchase: createCanary('purchase-key'),
  password: createCanary('password'),
  authorization: createCanary('authorization'),
  unknownField: {
    [createCanary('key')]: [createCanary('a'), [{ deep: { id: createCanary('b'), type: [createCanary('c')] } }]],
  },
};

/** Strings in fields that should contain objects. */
const misplaced = Object.fromEntries(
  [
    'data',
    'device',
    'error',
    'additionalData',
    'license',
    'offers',
    'products',
    'purchases',
    'latest_receipt',
    'ok',
  ].map((name) => [name, createCanary(name)]),
);

const transactions = [
  { type: 'ios-store', id: '1', ...secrets },
  { type: 'store_a-signed', id: '1', jwsRepresentation: jws, ...secrets },
  { type: 'android-store', id: 'GPA.1', ...secrets },
  { type: 'store_c-transaction', storeId: 's', skuId: '1', ...secrets },
  { type: 'processor_a-charge', id: 'ch_1', ...secrets },
  { type: 'processor_b', id: {}, ...secrets },
  { type: 'client-library', adapter: 'processor_a', ...secrets },
  { ...secrets },
  createCanary('transaction'),
];

/** Requests that are sent to the store, which repeats them in its error. */
const requestsToStores = [
  {
    id: 'premium',
    type: 'consumable',
    transaction: { type: 'android-store', id: 'p', purchaseToken: createCanary('token') },
  },
  {
    id: 'premium',
    type: 'paid subscription',
    transaction: { type: 'android-store', id: 'p', purchaseToken: createCanary('t') },
  },
  {
    id: 'tip_jar',
    type: 'consumable',
    transaction: {
      type: 'processor_b',
      id: {},
      paymentMethodNonce: createCanary('nonce'),
      deviceData: createCanary('device'),
    },
  },
  {
    id: 'premium',
    type: 'consumable',
    transaction: { type: 'processor_a-charge', id: 'pi_1', accessToken: createCanary('ak') },
  },
  { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1000000000000001' } },
];

const common = {
  id: 'premium',
  type: 'consumable',
  applicationUsername: 'ann',
  purchaseId: 'store_a:none',
  offerId: 'processor_a:prod#price_1',
  successUrl: `https://app.example.com/?session=${createCanary('success')}`,
  cancelUrl: `https://app.example.com/?session=${createCanary('cancel')}`,
  returnUrl: `https://app.example.com/?session=${createCanary('return')}`,
  customerId: 'none',
};

const bodies: readonly (object | string)[] = [
  ...requestsToStores,
  ...transactions.map((transaction) => ({ ...common, license: secrets, ...secrets, transaction })),
  ...transactions.map((transaction) => ({ ...common, ...misplaced, transaction })),
  { ...common, priceMicros: 1000, currency: 'USD', transaction: { type: 'processor_b', ...secrets } },
  {
    ...common,
    products: [{ id: 'premium', ...secrets, offers: [secrets] }, createCanary('list')],
    transaction: secrets,
  },
  [createCanary('list')],
  `{"transaction":{"appStoreReceipt":"${createCanary('broken')}`,
  createCanary('no-json'),
];

/** Builds requests with secrets in all places except the ids and names that an event must contain. */
function buildRequests({ id, body, path, method }: Contract): CallOptions[] {
  const headers = {
    ...buildBasicAuth(keys.appName, keys.secretKey),
    cookie: createCanary('cookie'),
    'x-api-key': createCanary('header'),
  };
  const query = {
    appName: keys.appName,
    apiKey: keys.secretKey,
    accessToken: createCanary('query'),
    [createCanary('q')]: createCanary('v'),
  };
  const params = {
    applicationUsername: 'ann',
    id: createCanary('id'),
    tag: createCanary('tag'),
    purchaseId: createCanary('purchase'),
    transactionId: createCanary('transaction'),
    // The raw view of a request that changes something contains the id of its subject.
    ...(method !== 'GET' && { id: 'none', purchaseId: 'store_a:none' }),
  };
  const common = { headers, query, params };
  const withQueryCredentials = { query, params, ...(body && { body: {} }) };
  const invalid = { headers, query: { ...query, limit: createCanary('limit') }, path: `${path.split(':')[0]}%E0%A4%A` };
  return [
    withQueryCredentials,
    invalid,
    ...(body ? sampleItems(bodies, 6, id).map((content) => ({ ...common, body: content })) : [common]),
  ];
}

const buildSecretPattern = () =>
  new RegExp(`.{0,120}(?:CANARY|${keys.secretKey}|${keys.publicKey}|${jws.split('.')[1]}).{0,60}`);

const expectClean = (texts: readonly string[]) => {
  const leaks = texts.flatMap((text) => buildSecretPattern().exec(text)?.slice(0, 1) ?? []);
  expect(leaks).toEqual([]);
};

const contractsWithKey = contracts.filter(({ keyLevel }) => keyLevel !== 'none');

const isOfEvent = ({ pk }: Item): boolean => /^[^#]+#[EG]#/.test(String(pk));

/** Checks the items of the app, and deletes the items of events: later contracts would read them again. */
async function expectCleanItems(): Promise<void> {
  const items = (await scanItems(getService().table.name)).filter((item) => isOfApp(item, keys.appName));
  expect(items.length).toBeGreaterThan(itemCount);
  expectClean(items.map(formatItem));
  const ofEvents = items.filter(isOfEvent);
  await getService().table.batchDelete(ofEvents.map(toKey));
  itemCount = items.length - ofEvents.length;
}

/** Checks the lists of events and both views of one. */
async function expectCleanEvents(): Promise<void> {
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const rows = [
    ...(await callEndpoint(listEvents, { headers, query: { limit: '1000' } })).body.rows,
    ...(await callEndpoint(searchEvents, { headers, params: { tag: 'ann' } })).body.rows,
    ...(await callEndpoint(searchEvents, { headers, params: { tag: 'error' } })).body.rows,
  ];
  const ids = [...new Set<string>(rows.map(({ eventId }) => eventId))];
  expect(ids.length).toBeGreaterThan(0);
  expectClean([JSON.stringify(rows)]);
  await checkSample(ids, 8, async (id) => {
    const responses = [
      await callEndpoint(getEvent, { headers, params: { id }, query: { receipts: 'true' } }),
      await callEndpoint(getEventRaw, { headers, params: { id } }),
    ];
    expectClean(responses.map(({ body }) => JSON.stringify(body)));
  });
}

describe('secrets of clients', () => {
  const groups = splitIntoChunks(contractsWithKey, 8);
  it.each(groups.map((group) => [group.map(({ id }) => id).join(', '), group] as const))(
    'do not reach items, logs or responses about events through %s',
    async (_ids, group) => {
      for (const contract of group)
        for (const options of buildRequests(contract)) await callEndpoint(contract, options);
      await expectCleanEvents();
      await expectCleanItems();
      expectClean(logLines.splice(0));
    },
  );
});
