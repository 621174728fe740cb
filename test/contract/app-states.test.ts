import { beforeAll, describe, expect, it } from '@jest/globals';
import { readApiExamples } from '../../infra/api-examples.ts';
import type { Contract } from '../../lib/api/contract.ts';
import { type ApiKeyLevel, apiKeyLevels, type SandboxRule } from '../../lib/apps/app.ts';
import { getApp } from '../../lib/apps/contract.ts';
import { changeSettings, createApiKey, type IssuedApiKeys, rotateApiKey } from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { rotateTokenKeys } from '../../lib/entitlements/token-key.ts';
import { updateTokenKeys } from '../../lib/entitlements/token-key-table.ts';
import { contentContext } from '../../lib/forwards/create-forwards.ts';
import { storeForwards } from '../../lib/forwards/forward-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { toPaymentDigest, toRefundRequestId } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import type { WebhookDelivery } from '../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, disableWebhookUrl, replaceDelivery } from '../../lib/webhooks/delivery-table.ts';
import { type CallResult, callWithSecretKey } from '../../testing/call.ts';
import { givenAppData } from '../../testing/given-app-data.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const platforms = ['store_a', 'store_b', 'store_c', 'processor_a', 'processor_b'] as const;
const hostileNames = [
  'x#P#y',
  'a#C#b#D#c',
  'APP#x',
  '_KEY#1',
  '_LIMIT#x',
  '#',
  '%23P%23',
  'a/b?c=%2F+',
  '\u202eö\u0000日本',
];

const service = startBeforeAll(startTestService);

/** Purchases of an app that its store can be queried for, by app. */
const boughtIds = new Map<string, string>();

async function createState(states: readonly Platform[], terms: object = {}): Promise<IssuedApiKeys> {
  const keys = await service.createApp(states);
  await givenAppData({ keys, canary: `canary-${keys.appName}`, dollars: 1, payments: 2 });
  for (const platform of states.filter((state) => state === 'store_a')) {
    const product = { platform, productId: 'premium', type: 'paid subscription' };
    const order = { ...product, applicationUsername: keys.appName, ...terms };
    const { validate } = await service.callControl('/purchases', order);
    const { data } = (await service.validate(keys, validate)).body;
    boughtIds.set(keys.appName, `${platform}:${data.collection[0].purchaseId}`);
  }
  return keys;
}

/** Creates a key of each level that expires within a minute. */
async function createExpiringKeys({ appName }: IssuedApiKeys): Promise<void> {
  for (const level of apiKeyLevels) {
    const expired = { level, name: `expired ${level}`, validMs: 30_000, now: getService().now() };
    await createApiKey(getService(), appName, expired);
  }
}

async function createExpired(): Promise<IssuedApiKeys> {
  const keys = await createState(['store_a']);
  await createExpiringKeys(keys);
  return keys;
}

/** Rotates the main keys and the keys of entitlement tokens. Returns the new keys: the previous ones stay valid. */
async function rotateKeys(keys: IssuedApiKeys): Promise<IssuedApiKeys> {
  const { now } = getService();
  const rotation = { overlapMs: hourMs, now: now() };
  const rotate = async (level: 'public' | 'secret') =>
    await rotateApiKey(getService(), keys.appName, { level, ...rotation });
  await updateTokenKeys(getService(), keys.appName, (set) => rotateTokenKeys(set, rotation));
  return { ...keys, publicKey: await rotate('public'), secretKey: await rotate('secret') };
}

const forwardId = 'forward-1';

/** Creates a pending and a dead forward, and a disabled webhook URL of the app. */
async function createForwards({ appName }: IssuedApiKeys): Promise<void> {
  const { cipher, now } = getService();
  const urls = ['https://live.example.com/stores', 'https://gone.example.com/stores'];
  await storeForwards(
    getService(),
    appName,
    urls.map((url) => ({ url, includesAuthorization: true })),
  );
  const content = JSON.stringify({ body: '{}', headers: { 'content-type': 'application/json' } });
  for (const [index, url] of urls.entries()) {
    const delivery: WebhookDelivery = {
      appName,
      deliveryId: `forward-${index + 1}`,
      type: 'forward',
      url,
      notification: { id: 'message-1', reason: 'OTHER', date: now() },
      state: 'pending',
      failedAttempts: 0,
      createdAt: now(),
      forward: {
        platform: 'store_a',
        chain: url,
        receivedAt: now(),
        content: await cipher.encrypt(content, contentContext(appName)),
      },
    };
    await createDeliveryIfAbsent(getService(), delivery);
    if (index > 0)
      await replaceDelivery(getService(), delivery, { ...delivery, state: 'dead', failedAttempts: 1 }, now());
  }
  await disableWebhookUrl(getService(), appName, 'https://gone.example.com/stores', now());
}

const sandboxRules: readonly SandboxRule[] = [
  { rule: 'all' },
  { rule: 'none' },
  { rule: 'listed', usernames: ['ann'] },
];

/** Creates an app with data in each state. */
const states: readonly (readonly [state: string, create: () => Promise<IssuedApiKeys>])[] = [
  ['without settings', async () => await createState([])],
  ...platforms.map((platform) => [`with ${platform}`, async () => await createState([platform])] as const),
  ['with expired keys of all levels', createExpired],
  ['with the new keys of a rotation', async () => await rotateKeys(await createState(['store_a']))],
  [
    'with the previous keys of a rotation',
    async () => {
      const keys = await createState(['store_a']);
      await rotateKeys(keys);
      return keys;
    },
  ],
  [
    'with forwards',
    async () => {
      const keys = await createState(['store_a']);
      await createForwards(keys);
      return keys;
    },
  ],
  ...sandboxRules.map(
    (sandboxRule) =>
      [
        `with sandbox purchases and the rule ${sandboxRule.rule}`,
        async () => {
          const keys = await createState(['store_a'], { sandbox: true });
          await changeSettings(getService(), keys.appName, { sandboxRule });
          return keys;
        },
      ] as const,
  ),
];

/** Functions cache apps for less than a minute. */
const passCaches = async () => await service.callControl('/clock', { advance: 'PT2M' });

let named: IssuedApiKeys;
beforeAll(async () => {
  named = await createState(['store_a']);
  await passCaches();
});

const until = new Date(Date.now() + 30 * dayMs).toISOString();
const pages = { successUrl: 'https://app.example.com', cancelUrl: 'https://app.example.com' };

/** Bodies with the name, and others that the recorded examples do not have. */
const bodies: Readonly<Record<string, (name: string) => object>> = {
  'validate-receipt': (name) => ({
    id: 'premium',
    type: 'paid subscription',
    transaction: { type: 'android-store', purchaseToken: 'none' },
    additionalData: { applicationUsername: name },
  }),
  'verify-purchase': (name) => ({ store: 'google', purchaseToken: 'none', applicationUsername: name }),
  'add-customer-purchase': () => ({ purchaseId: 'store_a:1' }),
  'merge-customer': (name) => ({ from: `${name}2` }),
  'create-grant': (name) => ({ entitlement: 'premium', reason: name, until }),
  'give-credits': (name) => ({ credit: 'coins', amount: 2, idempotencyKey: name, reason: 'a gift' }),
  'spend-credits': (name) => ({ credit: 'coins', amount: 1, idempotencyKey: `spend ${name}` }),
  'take-credits': (name) => ({ credit: 'coins', amount: 1, idempotencyKey: `take ${name}`, reason: 'a mistake' }),
  'act-on-purchase': (name) => ({ action: 'finish', reason: name, idempotencyKey: name }),
  'create-annotation': (name) => ({ date: '2026-01-15', text: name.slice(0, 100) }),
  'create-checkout': (name) => ({ offerId: 'processor_a:none', applicationUsername: name, ...pages }),
  'create-client-token': (name) => ({ applicationUsername: name }),
  'create-key': (name) => ({ level: 'support', name: `key ${Buffer.from(name).toString('hex').slice(0, 20)}` }),
  'set-store': () => ({ packageName: 'com.example.app' }),
  'sign-offer': (name) => ({
    kind: 'promotional',
    productId: 'premium',
    offerId: 'welcome',
    applicationUsername: name,
  }),
};

const { operations: examples } = readApiExamples();

async function call(contract: Contract, keys: IssuedApiKeys, name: string): Promise<CallResult> {
  const params = {
    applicationUsername: name,
    // The purchases of `givenAppData` do not exist at a store.
    purchaseId: contract.permissions.includes('stores') ? (boughtIds.get(keys.appName) ?? 'store_a:none') : 'store_a:1',
    transactionId: 'store_a:1-0',
    appName: keys.appName,
    grantId: 'grant_none',
    keyId: 'none',
    platform: 'store_b',
    tag: name,
    reqId: name,
    id:
      contract.area === 'refunds'
        ? toRefundRequestId({ digest: toPaymentDigest('store_a:1-0'), number: '0001' })
        : contract.area === 'webhooks'
          ? forwardId
          : name,
  };
  const query = { applicationUsername: name, q: name, entitlement: 'premium', dryRun: 'true', limit: '2' };
  const isRead = contract.method === 'GET' || contract.method === 'DELETE';
  return await callWithSecretKey(contract, keys, {
    params,
    query,
    ...(!isRead && { body: bodies[contract.id]?.(name) ?? examples[contract.id]?.body ?? {} }),
  });
}

/** Lists the responses that are errors of the service. A store without settings is an error of the operator. */
const isFailure = ({ status, body }: CallResult): boolean =>
  (status === 500 && !/settings|not (?:set up|configured)/.test(JSON.stringify(body))) ||
  /DatabaseError|7691004/.test(JSON.stringify(body));

async function listFailures(keys: IssuedApiKeys, names: readonly string[]): Promise<string[]> {
  const failures: string[] = [];
  for (const contract of contracts)
    for (const name of names) {
      const response = await call(contract, keys, name);
      if (isFailure(response)) failures.push(`${contract.id} ${name}: ${JSON.stringify(response.body)}`);
    }
  return failures;
}

describe('each operation, within the writes that its policy allows', () => {
  it.each(sampleItems(states, 5))('responds in an app %s', async (_state, create) => {
    const keys = await create();
    await passCaches();
    expect(await callWithSecretKey(getApp, keys)).toMatchObject({ status: 200 });
    expect(await listFailures(keys, ['ann'])).toEqual([]);
  });

  it.each(sampleItems(hostileNames, 3))('responds for the username %j', async (name) => {
    expect(await listFailures(named, [name])).toEqual([]);
  });

  it('creates a key of each level in an app with expired keys of all levels', async () => {
    const keys = await createExpired();
    await passCaches();
    const createKey = contracts.find(({ id }) => id === 'create-key') as Contract;
    const create = async (level: ApiKeyLevel) =>
      (await callWithSecretKey(createKey, keys, { body: { level, name: `new ${level}` } })).status;
    for (const level of ['public', 'viewer', 'support'] as const)
      expect([level, await create(level)]).toEqual([level, 200]);
  });

  it.each(hostileNames)('changes grants and consents of the username %j', async (name) => {
    const find = (id: string) => contracts.find((contract) => contract.id === id) as Contract;
    const params = { applicationUsername: name };
    const grant = await callWithSecretKey(find('create-grant'), named, {
      params,
      body: { entitlement: 'pro', reason: 'r' },
    });
    expect(grant.status).toBe(201);
    const { grantId } = grant.body;
    const change = { params: { ...params, grantId }, body: { until } };
    expect((await callWithSecretKey(find('change-grant'), named, change)).status).toBe(200);
    expect(
      (await callWithSecretKey(find('set-refund-consent'), named, { params, body: { consented: true } })).status,
    ).toBe(200);
    expect((await callWithSecretKey(find('revoke-grant'), named, { params: { ...params, grantId } })).status).toBe(200);
  });

  it('sends bodies of contracts only', () => {
    expect(contracts.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(bodies)));
  });
});
