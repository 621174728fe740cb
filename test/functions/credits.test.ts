import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { findApp } from '../../lib/apps/app-table.ts';
import { changeSettings, createApiKey, getApp, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import {
  captureCredits,
  getCustomerCredits,
  giveCredits,
  listCreditHistory,
  releaseCredits,
  spendCredits,
  takeCredits,
} from '../../lib/credits/contract.ts';
import { eraseCustomer } from '../../lib/customer-data/erase-customer.ts';
import { reverseMerge } from '../../lib/customer-data/merge-customers.ts';
import { issueAccessToken } from '../../lib/customers/access-token-table.ts';
import { mergeCustomer } from '../../lib/customers/claim-contract.ts';
import { getCustomerTimeline } from '../../lib/customers/contract.ts';
import { explainAccess } from '../../lib/entitlements/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseCreditsKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { refreshPurchase } from '../../lib/purchases/contract.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';
import {
  buildBasicAuth,
  type CallOptions,
  callEndpoint,
  callWithPublicKey,
  callWithSecretKey,
} from '../../testing/call.ts';
import { readSnippet } from '../../testing/documents.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { settleByStream } from '../../testing/settle-by-stream.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);
let keys: IssuedApiKeys;
let user: string;
beforeEach(async () => {
  user = createUniqueName('user');
  keys = await givenApp('store_a');
});

const catalogue = {
  ...JSON.parse(readSnippet('docs/guides/credits.md', 'catalogue')),
  'processor_b:coins': { type: 'consumable', credits: { coins: 100 } },
  'store_c:9NBLGGJCOINS': { type: 'consumable', credits: { coins: 100 } },
  'store_c:9NBLGGJMONTH': { type: 'paid subscription', credits: { coins: 30, gems: 3 }, expires: 'period' },
  premium: { type: 'paid subscription', credits: { coins: 30, gems: 3 }, expires: 'period' },
  basic: { type: 'paid subscription', credits: { coins: 30, gems: 3 }, expires: 'period' },
  monthly: { type: 'paid subscription', credits: { coins: 30, gems: 3 }, expires: 'period' },
};

async function givenApp(platform: Platform): Promise<IssuedApiKeys> {
  const created = await fixture.createNotifiedApp(platform);
  await saveCatalogue(getService(), created.appName, catalogue);
  return created;
}

const call = async (contract: Contract, options: CallOptions = {}) =>
  await callWithSecretKey(contract, keys, { ...options, params: { applicationUsername: user, ...options.params } });
const readCredits = async (username = user, query: Record<string, string> = {}) =>
  (await call(getCustomerCredits, { params: { applicationUsername: username }, query })).body.credits;
const spend = async (amount: number, idempotencyKey: string, rest: object = {}) =>
  await call(spendCredits, { body: { credit: 'coins', amount, idempotencyKey, ...rest } });
const give = async (amount: number, idempotencyKey: string, rest: object = {}) =>
  await call(giveCredits, { body: { credit: 'coins', amount, idempotencyKey, reason: 'a gift', ...rest } });

interface Bought {
  readonly id: string;
  readonly purchaseId: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly data: any;
  validate(): Promise<unknown>;
  act(action: string, details?: object): Promise<void>;
}

async function buy(platform: Platform, order: object): Promise<Bought> {
  const { id, validate } = await fixture.callControl('/purchases', { platform, applicationUsername: user, ...order });
  const { body } = await fixture.validate(keys, validate);
  if (!body.ok) throw new Error(body.message);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  return {
    id,
    purchaseId,
    data: body.data,
    validate: async () => (await fixture.validate(keys, validate)).body.data.credits,
    act: async (action, details = {}) => {
      await fixture.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, details);
      await fixture.processNotifications();
      if (platform === 'store_c') {
        await pollNotifications(getService(), [await getApp(getService(), keys.appName)], () => hourMs);
        await fixture.processNotifications();
      }
      // Braintree does not notify of refunds, and the Microsoft Store not of renewals.
      if (platform === 'processor_b' || platform === 'store_c') await call(refreshPurchase, { params: { purchaseId } });
      await settleByStream(keys.appName, purchaseId);
    },
  };
}

const consumable = { productId: 'coins_100', type: 'consumable', priceMicros: 5_000_000 };
/** The stores whose accounts or ids do not allow that product id. */
const productIds: Readonly<Partial<Record<Platform, string>>> = { processor_b: 'coins', store_c: '9NBLGGJCOINS' };

describe('credits of a payment', () => {
  it('appear once, however often the receipt is validated and the stream is read', async () => {
    const { data, validate, purchaseId } = await buy('store_a', consumable);
    const credits = { coins: { balance: 100, granted: 100, spent: 0, takenBack: 0, expired: 0 } };
    expect(data.credits).toEqual(credits);
    expect(await validate()).toEqual(credits);
    await Promise.all([1, 2, 3, 4].map(async () => await settleByStream(keys.appName, purchaseId)));
    expect(await readCredits()).toMatchObject(credits);
    const { rows } = (await call(listCreditHistory)).body;
    expect(rows).toMatchObject([{ type: 'given', credit: 'coins', amount: 100, balance: 100, purchaseId }]);
  });

  it('equal what the catalogue gave at the time of the payment', async () => {
    const { purchaseId } = await buy('store_a', consumable);
    const changed = { ...catalogue, coins_100: { type: 'consumable', credits: { coins: 7 } } };
    await saveCatalogue(getService(), keys.appName, changed);
    await settleByStream(keys.appName, purchaseId);
    expect(await readCredits()).toMatchObject({ coins: { balance: 100 } });
  });

  it('do not appear in the response for a product without credits', async () => {
    const { data } = await buy('store_a', { ...consumable, productId: 'sword', type: 'non consumable' });
    expect(data).not.toHaveProperty('credits');
    expect(await readCredits()).toEqual({});
  });

  const subscriptions = [
    ['store_a', 'premium'],
    ['store_b', 'premium'],
    ['store_c', '9NBLGGJMONTH'],
    ['processor_a', 'basic'],
    ['processor_b', 'monthly'],
  ] as const;
  it.each(sampleItems(subscriptions, 2))(
    'cover each paid period of a subscription of %s, and end with it',
    async (platform, productId) => {
      keys = await givenApp(platform);
      const bought = await buy(platform, { productId, type: 'paid subscription' });
      expect(bought.data.credits).toMatchObject({ coins: { balance: 30 }, gems: { balance: 3 } });
      const sandbox = platform === 'processor_b';
      await spend(10, 'a', { sandbox });
      await bought.act('renew');
      const { coins } = await readCredits(user, { sandbox: `${sandbox}` });
      expect(coins).toMatchObject({ granted: 60, spent: 10 });
    },
  );

  it('do not include a trial', async () => {
    const bought = await buy('store_a', { productId: 'premium', type: 'paid subscription', trial: 'P1W' });
    expect(bought.data.credits).toEqual({});
  });

  it.each(sampleItems(['store_a', 'store_b', 'store_c', 'processor_a', 'processor_b'] as const, 2))(
    'lose what is left of the payment when %s refunds it',
    async (platform) => {
      keys = await givenApp(platform);
      const sandbox = platform === 'processor_b';
      const bought = await buy(platform, { type: 'consumable', productId: productIds[platform] ?? 'coins_100' });
      await spend(60, 'a', { sandbox });
      await bought.act('refund');
      const { coins } = await readCredits(user, { sandbox: `${sandbox}` });
      expect(coins).toMatchObject({ balance: 0, granted: 100, spent: 60, takenBack: 40 });
    },
  );

  it('fall below zero after a refund if the app says so', async () => {
    await changeSettings(getService(), keys.appName, { creditFloor: 'debt' });
    const bought = await buy('store_a', consumable);
    await spend(60, 'a');
    await bought.act('refund');
    expect((await readCredits()).coins).toMatchObject({ balance: -60, takenBack: 100 });
    expect((await spend(1, 'b')).body).toMatchObject({ code: 'Conflict', balance: -60 });
    await give(100, 'c');
    expect((await readCredits()).coins).toMatchObject({ balance: 40 });
  });

  it('lose a part for a partial refund, and get it back when a dispute is won', async () => {
    keys = await givenApp('processor_a');
    const bought = await buy('processor_a', consumable);
    await bought.act('refund', { amountMicros: 1_000_000 });
    expect((await readCredits()).coins).toMatchObject({ balance: 80, takenBack: 20 });
    await bought.act('dispute');
    expect((await readCredits()).coins).toMatchObject({ balance: 0, takenBack: 100 });
    await bought.act('win-dispute');
    expect((await readCredits()).coins).toMatchObject({ balance: 80, takenBack: 20 });
    expect((await call(listCreditHistory)).body.rows.map(({ type }: { type: string }) => type)).toEqual([
      'returned',
      'taken-back',
      'taken-back',
      'given',
    ]);
  });

  it('use a separate balance for the sandbox', async () => {
    keys = await givenApp('store_b');
    const { data } = await buy('store_b', { ...consumable, sandbox: true });
    expect(data.credits).toMatchObject({ coins: { balance: 100 } });
    expect(await readCredits()).toEqual({});
    expect(await readCredits(user, { sandbox: 'true' })).toMatchObject({ coins: { balance: 100 } });
    expect((await spend(1, 'a')).status).toBe(409);
    expect((await spend(1, 'b', { sandbox: true })).body).toMatchObject({ balance: 99, isSandbox: true });
  });
});

describe('POST /v3/customers/:applicationUsername/credits/spend', () => {
  it('returns the same result for a repeated key, and 409 for the key of a different request', async () => {
    await give(100, 'gift');
    const first = await spend(40, 'order-1', { reason: 'A song' });
    expect(first).toMatchObject({ status: 200, body: { type: 'spent', amount: 40, balance: 60, reason: 'A song' } });
    await spend(20, 'order-2');
    expect((await spend(40, 'order-1', { reason: 'A song' })).body).toEqual(first.body);
    expect(await spend(41, 'order-1', { reason: 'A song' })).toMatchObject({ status: 409 });
    expect((await readCredits()).coins).toMatchObject({ balance: 40, spent: 60 });
  });

  it('refuses what the balance does not contain, with the balance, and repeats the refusal', async () => {
    await give(10, 'gift');
    const refused = { status: 409, body: { ok: false, code: 'Conflict', balance: 10 } };
    expect(await spend(11, 'order')).toMatchObject(refused);
    await give(10, 'another gift');
    expect(await spend(11, 'order')).toMatchObject(refused);
    expect((await spend(11, 'another order')).body).toMatchObject({ balance: 9 });
  });

  it.each([
    [{ amount: 0 }],
    [{ amount: 1.5 }],
    [{ amount: -1 }],
    [{ credit: '__proto__' }],
    [{ credit: 'constructor' }],
    [{ idempotencyKey: '' }],
  ])('rejects %j', async (changes) => {
    const body = { credit: 'coins', amount: 1, idempotencyKey: 'a', ...changes };
    expect((await call(spendCredits, { body })).status).toBe(400);
  });

  it('spends each unit once for 20 concurrent requests', async () => {
    await give(10, 'gift');
    const results = await Promise.all(Array.from({ length: 20 }, async (_, index) => await spend(1, `order-${index}`)));
    expect(results.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), ...Array(10).fill(409)]);
    expect((await readCredits()).coins).toMatchObject({ balance: 0, spent: 10 });
  });

  it('holds units until a capture, a release or their end', async () => {
    await give(100, 'gift');
    const { body: held } = await spend(40, 'hold-1', { hold: true });
    expect(held).toMatchObject({ type: 'held', balance: 60, holdId: expect.any(String) });
    const end = async (contract: Contract, holdId: string, body: object = {}) =>
      await call(contract, { params: { holdId }, body });
    expect((await end(captureCredits, held.holdId, { amount: 41 })).status).toBe(400);
    const captured = await end(captureCredits, held.holdId, { amount: 30 });
    expect(captured.body).toMatchObject({ type: 'captured', amount: 30, balance: 70 });
    expect((await end(captureCredits, held.holdId, { amount: 30 })).body).toEqual(captured.body);
    expect((await end(captureCredits, held.holdId, { amount: 20 })).status).toBe(409);
    const { body: second } = await spend(40, 'hold-2', { hold: true });
    expect((await end(releaseCredits, second.holdId)).body).toMatchObject({ type: 'released', balance: 70 });
    const until = new Date(getService().now() + hourMs).toISOString();
    const { body: third } = await spend(40, 'hold-3', { hold: true, until });
    await fixture.callControl('/clock', { advance: 'PT2H' });
    expect((await readCredits()).coins).toMatchObject({ balance: 70, holds: [] });
    expect((await end(captureCredits, third.holdId, { amount: 1 })).status).toBe(404);
  });
});

describe('timeline of a customer, and explanation of access', () => {
  it('contain each change of credits once, with its reason', async () => {
    const { purchaseId, act } = await buy('store_a', consumable);
    await spend(30, 'a', { reason: 'A song' });
    await act('refund');
    const read = async (query: Record<string, string>) => (await call(getCustomerTimeline, { query })).body;
    const { rows } = await read({});
    const changes = rows.filter(({ type }: { type: string }) => type === 'credit');
    expect(changes).toMatchObject([
      { change: 'taken-back', amount: 70, balance: 0, purchaseId },
      { change: 'spent', amount: 30, balance: 70, reason: 'A song', isSandbox: false },
      { change: 'given', amount: 100, balance: 100, purchaseId },
    ]);
    expect(JSON.stringify(rows)).not.toContain('credit.spent');
    const paged = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await read({ limit: '2', cursor });
      paged.push(...page.rows);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(rows);
    const { because } = (await call(explainAccess, { query: { productId: 'coins_100' } })).body;
    expect(because.map(({ what }: { what: string }) => what)).toEqual(
      expect.arrayContaining([
        '100 coins were given.',
        '30 coins were spent: A song',
        '70 coins were taken back for a refund.',
      ]),
    );
  });
});

describe('credits that an operator gives and takes', () => {
  it('end by date, and a support key takes them with a reason', async () => {
    const { key } = await createApiKey(getService(), keys.appName, {
      level: 'support',
      name: 'alice',
      now: getService().now(),
    });
    const headers = buildBasicAuth(keys.appName, key);
    const params = { applicationUsername: user };
    const until = new Date(getService().now() + 2 * dayMs).toISOString();
    const body = { credit: 'coins', amount: 50, idempotencyKey: 'a', reason: 'an outage', until };
    const given = await callEndpoint(giveCredits, { params, headers, body });
    expect(given.body).toMatchObject({ balance: 50, expiresAt: until, key: { name: 'alice' } });
    const taken = { credit: 'coins', amount: 20, idempotencyKey: 'b', reason: 'a mistake' };
    expect((await callEndpoint(takeCredits, { params, headers, body: taken })).body).toMatchObject({ balance: 30 });
    expect((await callEndpoint(spendCredits, { params, headers, body: taken })).status).toBe(403);
    await fixture.callControl('/clock', { advance: 'P3D' });
    expect((await readCredits()).coins).toMatchObject({ balance: 0, expired: 30, takenBack: 20, lots: [] });
  });
});

describe('GET /v3/customers/:applicationUsername/credits', () => {
  it('accepts the public key with the token of a paid checkout of the customer only', async () => {
    keys = await givenApp('processor_a');
    const { id } = await buy('processor_a', { productId: 'basic', type: 'paid subscription' });
    const grant = { platform: 'processor_a', subscription: id, username: user } as const;
    const accessToken = await issueAccessToken(getService(), keys.appName, grant, getService().now());
    const read = async (applicationUsername: string, query?: Record<string, string>) =>
      await callWithPublicKey(getCustomerCredits, keys, { params: { applicationUsername }, ...(query && { query }) });
    expect(await read(user, { accessToken })).toMatchObject({
      status: 200,
      body: { credits: { coins: { balance: 30 } } },
    });
    const refused = [
      await read(user),
      await read(user, { accessToken: 'ak_unknown' }),
      await read(`${user}-bob`, { accessToken }),
      await callWithPublicKey(listCreditHistory, keys, {
        params: { applicationUsername: user },
        query: { accessToken },
      }),
      await callWithPublicKey(spendCredits, keys, {
        params: { applicationUsername: user },
        body: { credit: 'coins', amount: 1, idempotencyKey: 'a', accessToken },
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });
});

describe('credits of merged customers', () => {
  const merge = async () => await call(mergeCustomer, { body: { from: `${user}-guest` } });

  it('add up with their purchases, and a later refund takes them back', async () => {
    const bought = await buy('store_a', { ...consumable, applicationUsername: `${user}-guest` });
    await give(10, 'gift');
    expect((await merge()).status).toBe(200);
    expect((await merge()).status).toBe(200);
    await settleByStream(keys.appName, bought.purchaseId);
    expect((await readCredits()).coins).toMatchObject({ balance: 110, granted: 110 });
    expect(await readCredits(`${user}-guest`)).toEqual({});
    await spend(30, 'a');
    await bought.act('refund');
    expect((await readCredits()).coins).toMatchObject({ balance: 0, spent: 30, takenBack: 80 });
  });

  it('return to the merged customer when the merge is reversed, without what was spent', async () => {
    const bought = await buy('store_a', { ...consumable, applicationUsername: `${user}-guest` });
    await give(10, 'gift');
    const { body } = await merge();
    await spend(30, 'a');
    const reversal = { to: user, mergeId: body.mergeId, key: { id: 'key', name: 'alice' } };
    await reverseMerge(getService(), { name: keys.appName, strategy: 'last' }, reversal);
    await settleByStream(keys.appName, bought.purchaseId);
    expect((await readCredits(`${user}-guest`)).coins).toMatchObject({ balance: 70 });
    expect((await readCredits()).coins).toMatchObject({ balance: 10, spent: 30 });
  });
});

describe('credits of a purchase that another customer claims', () => {
  it('move without what was spent', async () => {
    await changeSettings(getService(), keys.appName, { strategy: 'last' });
    const { id, purchaseId } = await buy('store_a', consumable);
    await spend(60, 'a');
    const { validate } = await fixture.callControl(`/purchases/${id}`);
    await fixture.validate(keys, { ...validate, additionalData: { applicationUsername: `${user}-bob` } });
    await settleByStream(keys.appName, purchaseId);
    expect((await readCredits(`${user}-bob`)).coins).toMatchObject({ balance: 40 });
    expect((await readCredits()).coins).toMatchObject({ balance: 0, granted: 60, spent: 60 });
  });
});

describe('credits of an erased customer', () => {
  it('disappear, and the next customer of the purchase does not get them', async () => {
    const { purchaseId, validate } = await buy('store_a', consumable);
    const app = await findApp(getService(), keys.appName);
    if (!app) throw new Error('The app does not exist.');
    await eraseCustomer(getService(), app, user, { wait: async () => {}, waitMs: 0 });
    expect(await readCredits()).toEqual({});
    const items = await getService().table.query({ partition: purchaseCreditsKey.partition(keys.appName, purchaseId) });
    expect(JSON.stringify(items)).not.toContain(user);
    expect(await validate()).toEqual({});
  });
});
