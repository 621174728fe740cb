import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import { dayMs } from '../../lib/shared/time.ts';
import { resolveStoreUser } from '../../lib/store-notifications/resolve-store-user.ts';
import { createObservation, createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service.close();
});

let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await service.createApp(['store_a', 'store_b']);
});

const md5 = createHash('md5').update('victim').digest('hex');
const asUuid = md5.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');

/** Processes a store notification before any validation. The store identifies the user by the aliases. */
async function toldOf(purchaseId: string, ...userAliases: string[]): Promise<readonly string[]> {
  const now = Date.now();
  const look = createObservation({ purchaseId, expirationDate: now + dayMs }, { userAliases, asOf: now });
  await deps().recordPurchase(keys.appName, purchaseId, {
    ...{ trigger: 'notification', observation: look, strategy: 'first', now },
    ...(await resolveStoreUser(keys.appName, look, deps().userAliases)),
  });
  return await ownersOf(purchaseId);
}

const ownersOf = async (purchaseId: string) =>
  (await deps().purchases.find(keys.appName, purchaseId))?.entitledUsers ?? [];

/** Buys a product and validates it. `said` is the part of the request that identifies the user. */
async function validates(applicationUsername: string, said: object = {}): Promise<void> {
  const order = { platform: 'store_a', productId: createUniqueName('coins'), type: 'consumable', form: 'signed' };
  const { validate } = await service.callControl('/purchases', { ...order, applicationUsername });
  const { body } = await service.validate(keys, {
    ...validate,
    additionalData: { applicationUsername, ...said },
  });
  expect(body.ok).toBe(true);
}

describe('a client that submits the alias of another customer', () => {
  it.each([md5, asUuid, md5.toUpperCase()])('%s does not get the purchases of that customer', async (form) => {
    await validates('victim');
    await validates('mallory', { obfuscatedUsername: form });
    expect(await toldOf('store_a:777', md5)).toEqual(['victim']);
  });

  it.each([md5, asUuid])('%s does not get the unclaimed purchases under the alias', async (form) => {
    expect(await toldOf('store_a:888', asUuid)).toEqual([]);
    await validates('mallory', { obfuscatedUsername: form });
    expect(await ownersOf('store_a:888')).toEqual([]);
    await validates('victim');
    expect(await ownersOf('store_a:888')).toEqual(['victim']);
  });

  it.each([md5, asUuid])('%s as username does not get the purchases of that customer', async (name) => {
    expect(await toldOf('store_a:999', md5)).toEqual([]);
    await validates(name);
    expect(await ownersOf('store_a:999')).toEqual([]);
    await validates('victim');
    expect(await ownersOf('store_a:999')).toEqual(['victim']);
    expect(await toldOf('store_a:1001', asUuid)).toEqual(['victim']);
  });

  it('loses a purchase made under the alias to that customer', async () => {
    const { userAliases } = deps();
    await userAliases.saveAliases(keys.appName, { username: 'mallory', obfuscatedUsername: md5, storeAliases: [md5] });
    await userAliases.saveAliases(keys.appName, { username: 'victim', storeAliases: [] });
    expect(await userAliases.findUser(keys.appName, asUuid)).toBe('victim');
    await userAliases.saveAliases(keys.appName, { username: 'mallory', obfuscatedUsername: md5, storeAliases: [md5] });
    expect(await userAliases.findUser(keys.appName, asUuid)).toBe('victim');
  });

  it('does not get the purchases of a plain username', async () => {
    await validates('bob');
    await deps().userAliases.saveAliases(keys.appName, {
      username: 'mallory',
      obfuscatedUsername: 'bob',
      storeAliases: ['bob'],
    });
    expect(await toldOf('store_a:1', 'bob')).toEqual(['bob']);
  });
});

describe('resolveStoreUser', () => {
  it('finds a customer by an alias of the app after a store has returned it', async () => {
    const { userAliases } = deps();
    expect(await toldOf('store_b:1', 'own-form-of-ann')).toEqual([]);
    await userAliases.saveAliases(keys.appName, {
      username: 'ann',
      obfuscatedUsername: 'own-form-of-ann',
      storeAliases: [],
    });
    expect(await userAliases.findUser(keys.appName, 'own-form-of-ann')).toBeUndefined();
    const ann = { username: 'ann', obfuscatedUsername: 'own-form-of-ann', storeAliases: ['own-form-of-ann'] };
    await userAliases.saveAliases(keys.appName, ann);
    expect(await userAliases.findUser(keys.appName, 'own-form-of-ann')).toBe('ann');
    expect(await userAliases.listUnclaimedPurchases(keys.appName, ann)).toEqual(['store_b:1']);
  });

  it('finds a customer whose username is a random UUID', async () => {
    const name = 'b1946ac9-2492-4d23-8c6b-6f3e0a1d9c55';
    await validates(name);
    expect(await toldOf('store_a:2', name)).toEqual([name]);
  });

  it('finds a customer with a plain username immediately and later', async () => {
    expect(await toldOf('store_a:3', 'carol')).toEqual([]);
    await validates('carol');
    expect(await ownersOf('store_a:3')).toEqual(['carol']);
    expect(await toldOf('store_a:4', 'carol')).toEqual(['carol']);
  });
});

describe('validateReceipt with an alias over the maximum length', () => {
  it('ignores the alias', async () => {
    await validates('dave', { obfuscatedUsername: 'x'.repeat(3_000) });
    expect((await deps().purchases.listByUser(keys.appName, 'dave')).length).toBe(1);
  });
});

it('returns only ConnectionFailed to a second customer of a purchase during a store outage', async () => {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
  const { validate } = await service.callControl('/purchases', order);
  const as = async (applicationUsername: string) =>
    (await service.validate(keys, { ...validate, additionalData: { applicationUsername } })).body;
  expect(await as('ann')).toMatchObject({ ok: true });
  await service.callControl('/faults', { platform: 'store_b', fault: 'down', times: 20 });
  expect(await as('ann')).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
  expect(await as('bob')).toMatchObject({ ok: false, code: 6778002 });
  await service.clearFaults();
  expect(await as('bob')).toMatchObject({ ok: true });
});
