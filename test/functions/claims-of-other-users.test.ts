import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { App } from '../../lib/apps/app.ts';
import { findApp } from '../../lib/apps/app-table.ts';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { omitUndefined } from '../../lib/foundation/omit-undefined.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import {
  findStoreUser,
  findUnclaimedPurchases,
  findUserOfAlias,
  listUnclaimedPurchases,
  saveUserAliases,
} from '../../lib/purchases/user-alias-table.ts';
import { recordObservations } from '../../lib/validation/record-observations.ts';
import { createObservation, createUniqueName } from '../../testing/given.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await fixture.createApp(['store_a', 'store_b']);
});

const md5 = createHash('md5').update('victim').digest('hex');
const asUuid = md5.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');

/** Processes a store notification before any validation. The store identifies the user by the aliases. */
async function toldOf(purchaseId: string, ...userAliases: string[]): Promise<readonly string[]> {
  const now = Date.now();
  const look = createObservation({ purchaseId, expirationDate: now + dayMs }, { userAliases, asOf: now });
  await recordObservation(getService(), keys.appName, {
    trigger: 'notification',
    observation: look,
    strategy: 'first',
    now,
    ...omitUndefined({ storeUser: await findStoreUser(getService(), keys.appName, look) }),
  });
  return await ownersOf(purchaseId);
}

const ownersOf = async (purchaseId: string) =>
  (await findPurchase(getService(), keys.appName, purchaseId))?.entitledUsers ?? [];

/** Buys a product and validates it. `said` is the part of the request that identifies the user. */
async function validates(applicationUsername: string, said: object = {}): Promise<void> {
  const order = { platform: 'store_a', productId: createUniqueName('coins'), type: 'consumable', form: 'signed' };
  const { validate } = await fixture.callControl('/purchases', { ...order, applicationUsername });
  const { body } = await fixture.validate(keys, {
    ...validate,
    additionalData: { applicationUsername, ...said },
  });
  expect(body.ok).toBe(true);
}

describe('client that submits the alias of another customer', () => {
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
    await saveUserAliases(getService(), keys.appName, {
      username: 'mallory',
      obfuscatedUsername: md5,
      storeAliases: [md5],
    });
    await saveUserAliases(getService(), keys.appName, { username: 'victim', storeAliases: [] });
    expect(await findUserOfAlias(getService(), keys.appName, asUuid)).toBe('victim');
    await saveUserAliases(getService(), keys.appName, {
      username: 'mallory',
      obfuscatedUsername: md5,
      storeAliases: [md5],
    });
    expect(await findUserOfAlias(getService(), keys.appName, asUuid)).toBe('victim');
  });

  it('does not get the purchases of a plain username', async () => {
    await validates('bob');
    await saveUserAliases(getService(), keys.appName, {
      username: 'mallory',
      obfuscatedUsername: 'bob',
      storeAliases: ['bob'],
    });
    expect(await toldOf('store_a:1', 'bob')).toEqual(['bob']);
  });
});

describe('customer whose alias another client has submitted', () => {
  const token = '6f1a9c7e-53b2-4d0f-9a44-0d7b8a5e2c31';
  const validateAs = async (username: string, purchaseId: string, said: { obfuscatedUsername?: string }) => {
    const now = Date.now();
    const observation = createObservation(
      { purchaseId, expirationDate: now + dayMs },
      { userAliases: [token], asOf: now },
    );
    const [recorded] = await recordObservations(
      {
        app: { ...(await findOwnApp()), strategy: 'first' },
        service: getService(),
        validation: { purchaseId },
        recorder: createEventRecorder({ type: 'validate', date: now }),
        request: { applicationUsername: username, ...said },
      },
      [observation],
    );
    return recorded?.entitledUsers;
  };
  const findOwnApp = async () => (await findApp(getService(), keys.appName)) as App;

  it('gets a purchase that the store reported first', async () => {
    expect(await validateAs('mallory', 'store_a:1', { obfuscatedUsername: token })).toEqual(['mallory']);
    expect(await toldOf('store_a:2', token)).toEqual(['mallory']);
    expect(await validateAs('ann', 'store_a:2', { obfuscatedUsername: token })).toEqual(['ann']);
    expect(await listRepresentativePurchases(getService(), keys.appName, 'mallory')).toMatchObject([
      { purchaseId: 'store_a:1' },
    ]);
  });

  it('gets later purchases with the first validation, and the other client gets none', async () => {
    expect(await validateAs('ann', 'store_a:1', { obfuscatedUsername: token })).toEqual(['ann']);
    expect(await validateAs('mallory', 'store_a:2', { obfuscatedUsername: token })).toEqual(['mallory']);
    expect(await toldOf('store_a:3', token)).toEqual([]);
    expect(await validateAs('mallory', 'store_a:2', { obfuscatedUsername: token })).toEqual(['mallory']);
    expect(await ownersOf('store_a:3')).toEqual([]);
    expect(await validateAs('ann', 'store_a:3', { obfuscatedUsername: token })).toEqual(['ann']);
  });

  it('gets later purchases if the other client uses the alias as its username', async () => {
    expect(await validateAs('ann', 'store_a:1', { obfuscatedUsername: token })).toEqual(['ann']);
    await validates(token);
    expect(await toldOf('store_a:2', token)).toEqual([]);
    expect(await validateAs('ann', 'store_a:2', { obfuscatedUsername: token })).toEqual(['ann']);
  });

  it('keeps the alias if the other client validates a purchase of this customer', async () => {
    expect(await validateAs('ann', 'store_a:1', { obfuscatedUsername: token })).toEqual(['ann']);
    expect(await validateAs('mallory', 'store_a:1', { obfuscatedUsername: token })).toEqual(['ann']);
    expect(await toldOf('store_a:2', token)).toEqual(['ann']);
  });

  it('keeps a purchase that the store reported first under the MD5 of the username', async () => {
    expect(await toldOf('store_a:1', md5)).toEqual([]);
    await validates('victim');
    expect(await ownersOf('store_a:1')).toEqual(['victim']);
    expect(await validateAs('mallory', 'store_a:1', { obfuscatedUsername: token })).toEqual(['victim']);
  });
});

describe('purchase whose store notification arrives before its validation', () => {
  it.each(['all', 'first'] as const)('belongs only to its buyer with the strategy "%s"', async (strategy) => {
    const keysOfApp = await fixture.createNotifiedApp('store_a');
    await changeSettings(getService(), keysOfApp.appName, { strategy });
    const victim = createUniqueName('victim');
    const buyForVictim = async (productId: string, type: string) =>
      (await fixture.callControl('/purchases', { platform: 'store_a', productId, type, applicationUsername: victim }))
        .validate;
    const validateAs = async (validate: { additionalData: object }, applicationUsername: string) =>
      (
        await fixture.validate(keysOfApp, {
          ...validate,
          additionalData: { ...validate.additionalData, applicationUsername },
        })
      ).body;
    // A client chooses its token.
    const poison = await buyForVictim('coins', 'consumable');
    expect(await validateAs(poison, 'mallory')).toMatchObject({ ok: true });
    await fixture.processNotifications();
    const bought = await buyForVictim('premium', 'paid subscription');
    await fixture.processNotifications();
    const body = await validateAs(bought, victim);
    expect(body).toMatchObject({ ok: true });
    const subscription = body.data.collection.find(({ id }: { id: string }) => id === 'premium');
    const purchase = await fixture.fetchPurchase(keysOfApp, `store_a:${subscription.purchaseId}`);
    expect(purchase.entitledUsers).toEqual([victim]);
  });
});

describe('findStoreUser', () => {
  it('finds a customer by an alias of the app after a store has returned it', async () => {
    expect(await toldOf('store_b:1', 'own-form-of-ann')).toEqual([]);
    await saveUserAliases(getService(), keys.appName, {
      username: 'ann',
      obfuscatedUsername: 'own-form-of-ann',
      storeAliases: [],
    });
    expect(await findUserOfAlias(getService(), keys.appName, 'own-form-of-ann')).toBeUndefined();
    const ann = { username: 'ann', obfuscatedUsername: 'own-form-of-ann', storeAliases: ['own-form-of-ann'] };
    await saveUserAliases(getService(), keys.appName, ann);
    expect(await findUserOfAlias(getService(), keys.appName, 'own-form-of-ann')).toBe('ann');
    const { ownAliases, purchaseIds } = await findUnclaimedPurchases(getService(), keys.appName, ann, 10);
    expect(purchaseIds).toEqual(['store_b:1']);
    expect(await listUnclaimedPurchases(getService(), keys.appName, ownAliases, 10)).toEqual(['store_b:1']);
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
    expect((await listRepresentativePurchases(getService(), keys.appName, 'dave')).length).toBe(1);
  });
});

it('returns only ConnectionFailed to a second customer of a purchase during a store outage', async () => {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
  const { validate } = await fixture.callControl('/purchases', order);
  const as = async (applicationUsername: string) =>
    (await fixture.validate(keys, { ...validate, additionalData: { applicationUsername } })).body;
  expect(await as('ann')).toMatchObject({ ok: true });
  await fixture.callControl('/faults', { platform: 'store_b', fault: 'down', times: 20 });
  expect(await as('ann')).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
  expect(await as('bob')).toMatchObject({ ok: false, code: 6778002 });
  await fixture.clearFaults();
  expect(await as('bob')).toMatchObject({ ok: true });
});
