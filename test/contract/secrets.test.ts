import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { getEvent, getEventRaw, listEvents, searchEvents } from '../../lib/api/events.ts';
import { contracts } from '../../lib/api/index.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { stores } from '../../lib/stores/index.ts';
import { buildBasicAuth, type CallOptions, callEndpoint } from '../../testing/call.ts';
import { dumpItems } from '../../testing/dump-items.ts';
import { startEchoingStore } from '../../testing/echoing-store.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let store: Awaited<ReturnType<typeof startEchoingStore>>;
let keys: IssuedApiKeys;
const logged: string[] = [];
const { log, info, warn, error } = console;

beforeAll(async () => {
  service = await startTestService(`secrets-${createUniqueName()}`);
  store = await startEchoingStore();
  process.env.STORE_EMULATOR_URL = store.url;
  keys = await service.createApp(Object.keys(stores) as Platform[]);
  const keep = (...words: unknown[]) => void logged.push(words.map(String).join(' '));
  Object.assign(console, { log: keep, info: keep, warn: keep, error: keep });
});
afterAll(async () => {
  Object.assign(console, { log, info, warn, error });
  await store.close();
  await service.close();
});

const canary = (name: string) => `CANARY-${name}-0123456789abcdefABCDEF`;
const jws = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"CANARY":"payload of a signed message"}').toString('base64url')}.CANARYsignature`;

/** What the fields of a client may hold that must not be kept, and fields that nobody knows. */
const secrets = {
  appStoreReceipt: canary('receipt'),
  transactionReceipt: canary('transaction-receipt'),
  purchaseToken: canary('purchase-token'),
  receipt: JSON.stringify({ purchaseToken: canary('purchase-token'), orderId: 'GPA.1', productId: 'p' }),
  signature: canary('signature'),
  accessToken: canary('access-token'),
  paymentMethodNonce: canary('nonce'),
  deviceData: { [canary('name')]: canary('device') },
  storeIdKey_collections: canary('collections-key'),
  storeIdKey_purchases: canary('purchases-key'),
  storeIdKey_purchase: canary('purchase-key'),
  password: canary('password'),
  authorization: canary('authorization'),
  unheardOf: { [canary('key')]: [canary('a'), [{ deep: { id: canary('b'), type: [canary('c')] } }]] },
};

/** Where objects belong, texts. */
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
  ].map((name) => [name, canary(name)]),
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
  canary('transaction'),
];

/** What goes as far as the store, which repeats it in its refusal. */
const reachingStores = [
  {
    id: 'premium',
    type: 'consumable',
    transaction: { type: 'android-store', id: 'p', purchaseToken: canary('token') },
  },
  {
    id: 'premium',
    type: 'paid subscription',
    transaction: { type: 'android-store', id: 'p', purchaseToken: canary('t') },
  },
  {
    id: 'tip_jar',
    type: 'consumable',
    transaction: { type: 'processor_b', id: {}, paymentMethodNonce: canary('nonce'), deviceData: canary('device') },
  },
  {
    id: 'premium',
    type: 'consumable',
    transaction: { type: 'processor_a-charge', id: 'pi_1', accessToken: canary('ak') },
  },
  { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1000000000000001' } },
];

const common = {
  id: 'premium',
  type: 'consumable',
  applicationUsername: 'ann',
  purchaseId: 'store_a:none',
  offerId: 'processor_a:prod#price_1',
  successUrl: `https://app.example.com/?session=${canary('success')}`,
  cancelUrl: `https://app.example.com/?session=${canary('cancel')}`,
  returnUrl: `https://app.example.com/?session=${canary('return')}`,
  customerId: 'none',
};

const bodies: readonly (object | string)[] = [
  ...reachingStores,
  ...transactions.map((transaction) => ({ ...common, license: secrets, ...secrets, transaction })),
  ...transactions.map((transaction) => ({ ...common, ...misplaced, transaction })),
  { ...common, priceMicros: 1000, currency: 'USD', transaction: { type: 'processor_b', ...secrets } },
  { ...common, products: [{ id: 'premium', ...secrets, offers: [secrets] }, canary('list')], transaction: secrets },
  [canary('list')],
  `{"transaction":{"appStoreReceipt":"${canary('broken')}`,
  canary('no-json'),
];

/** Calls with secrets everywhere but in the ids and names that an event has to tell. */
function callsOf({ body, path }: Contract): CallOptions[] {
  const headers = {
    ...buildBasicAuth(keys.appName, keys.secretKey),
    cookie: canary('cookie'),
    'x-api-key': canary('header'),
  };
  const query = {
    appName: keys.appName,
    apiKey: keys.secretKey,
    accessToken: canary('query'),
    [canary('q')]: canary('v'),
  };
  const params = {
    applicationUsername: 'ann',
    id: canary('id'),
    tag: canary('tag'),
    purchaseId: canary('purchase'),
    transactionId: canary('transaction'),
  };
  const common = { headers, query, params };
  const byQuery = { query, params, ...(body && { body: {} }) };
  const odd = { headers, query: { ...query, limit: canary('limit') }, path: `${path.split(':')[0]}%E0%A4%A` };
  return [byQuery, odd, ...(body ? bodies.map((one) => ({ ...common, body: one })) : [common])];
}

const planted = () => new RegExp(`.{0,120}(?:CANARY|${keys.secretKey}|${keys.publicKey}|${jws.split('.')[1]}).{0,60}`);

const expectClean = (texts: readonly string[]) => {
  const found = texts.flatMap((text) => planted().exec(text)?.slice(0, 1) ?? []);
  expect(found).toEqual([]);
};

const locked = contracts.filter(({ keyLevel }) => keyLevel !== 'none');

describe('secrets of callers', () => {
  it.each(locked.map((contract) => [contract.id, contract] as const))(
    'are in no item and no log line after %s',
    async (_id, contract) => {
      const before = (await dumpItems(deps().table.name, keys.appName)).length;
      for (const wanted of callsOf(contract)) await callEndpoint(contract, wanted);
      const items = await dumpItems(deps().table.name, keys.appName);
      expect(items.length).toBeGreaterThan(before);
      expectClean(items);
      expectClean(logged);
    },
    60_000,
  );

  it('are in no answer about events', async () => {
    const headers = buildBasicAuth(keys.appName, keys.secretKey);
    const rows = [
      ...(await callEndpoint(listEvents, { headers, query: { limit: '1000' } })).body.rows,
      ...(await callEndpoint(searchEvents, { headers, params: { tag: 'ann' } })).body.rows,
      ...(await callEndpoint(searchEvents, { headers, params: { tag: 'error' } })).body.rows,
    ];
    const ids = [...new Set<string>(rows.map(({ eventId }) => eventId))];
    expect(ids.length).toBeGreaterThan(100);
    expectClean([JSON.stringify(rows)]);
    for (const id of ids) {
      const responses = [
        await callEndpoint(getEvent, { headers, params: { id }, query: { receipts: 'true' } }),
        await callEndpoint(getEventRaw, { headers, params: { id } }),
      ];
      expectClean(responses.map(({ body }) => JSON.stringify(body)));
    }
  }, 60_000);
});
