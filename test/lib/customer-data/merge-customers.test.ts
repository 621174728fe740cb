import { beforeEach, describe, expect, it } from '@jest/globals';
import { type App, strategies } from '../../../lib/apps/app.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { eraseCustomer } from '../../../lib/customer-data/erase-customer.ts';
import { mergeCustomers, reverseMerge } from '../../../lib/customer-data/merge-customers.ts';
import { listMerges } from '../../../lib/customers/merge-table.ts';
import type { Grant } from '../../../lib/entitlements/grant.ts';
import { createGrantIfAbsent, listStoredGrants } from '../../../lib/entitlements/grant-table.ts';
import { changeGrantEnd } from '../../../lib/entitlements/manage-grants.ts';
import { grantKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { addErasedNames, selectErasedNames } from '../../../lib/purchases/erased-name-table.ts';
import { listRepresentativePurchases } from '../../../lib/purchases/owned-purchase-table.ts';
import { listClaims } from '../../../lib/purchases/purchase-table.ts';
import {
  findUserOfAlias,
  listUnclaimedPurchases,
  resolveMergedName,
  saveUserAliases,
} from '../../../lib/purchases/user-alias-table.ts';
import { toMd5Alias } from '../../../lib/purchases/user-aliases.ts';
import { buildGrantDeliveries } from '../../../lib/webhooks/grant-announcements.ts';
import { readStreamRecord } from '../../../lib/webhooks/purchase-announcements.ts';
import { createService } from '../../../testing/create-service.ts';
import { formatItem, scanItems } from '../../../testing/dump-items.ts';
import { findNames } from '../../../testing/find-names.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

const key = { id: 'key', name: 'main' };
const noWait = { wait: async () => {} };

const table = startBeforeAll(async () => await createTestTable(createUniqueName('merges')));
let app: App;
let service: Service;
beforeEach(async () => {
  service = createService(table);
  app = await getApp(service, (await givenApp(table)).appName);
});

const givenPurchases = async (username: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, (_, index) => `store_a:${index}`);
  for (const purchaseId of ids) {
    const observation = createObservation({ purchaseId, expirationDate: startDate + 30 * dayMs });
    await recordObservation(service, app.name, { username, observation, strategy: app.strategy });
  }
  return ids;
};
const givenGrant = async (username: string, fields: Partial<Grant> = {}): Promise<void> => {
  const times = { createdAt: startDate, createdBy: key, version: 1 } as const;
  const grant = { grantId: 'grant_1', username, entitlement: 'premium', reason: 'a test', ...times, ...fields };
  expect(await createGrantIfAbsent(service, app.name, grant)).toBe(true);
};
const givenAlias = async (username: string, alias: string): Promise<void> =>
  await saveUserAliases(service, app.name, { username, obfuscatedUsername: alias, storeAliases: [alias] });
const listOwned = async (username: string): Promise<string[]> =>
  (await listRepresentativePurchases(createService(table), app.name, username))
    .map(({ purchaseId }) => purchaseId)
    .sort();
const merge = async (from: string, to: string, changes: Partial<Service> = {}, maxPurchases?: number) =>
  await mergeCustomers({ ...service, ...changes }, app, { from, to, key }, maxPurchases);
const reverse = async (to: string, mergeId: string) => await reverseMerge(service, app, { to, mergeId, key });

/** Returns the webhooks of a changed item: the recipients with the reasons. */
const readWebhooks = (before: Item | undefined, after: Item | undefined) => {
  if (!after) throw new Error('The item is missing.');
  const announcements = readStreamRecord(buildStreamRecord({ ...(before && { before }), after }, 0));
  return { recipients: announcements?.recipients ?? [], reasons: announcements?.announcements.map((a) => a.reason) };
};

describe('mergeCustomers', () => {
  it.each(strategies)('makes the customer the owner and announces it to both (%s)', async (strategy) => {
    app = { ...app, strategy };
    const [purchaseId = ''] = await givenPurchases('guest', 1);
    const before = await table.get(purchaseKey(app.name, purchaseId));
    expect(await merge('guest', 'ann')).toMatchObject({ purchases: 1, isComplete: true });
    expect([await listOwned('ann'), await listOwned('guest')]).toEqual([[purchaseId], []]);
    const webhooks = readWebhooks(before, await table.get(purchaseKey(app.name, purchaseId)));
    expect(webhooks).toEqual({ recipients: ['ann', 'guest'], reasons: ['OTHER'] });
    const { rows } = { rows: await listClaims(service, app.name, purchaseId) };
    expect(rows.map(({ username, firstClaimedAt }) => [username, firstClaimedAt])).toEqual([['ann', startDate]]);
  });

  it('moves a bounded number of purchases at a time, each once', async () => {
    const count = sampleItems(Array.from({ length: 60 }), 12).length;
    const ids = await givenPurchases('guest', count);
    let [moved, requests] = [0, 0];
    for (let isComplete = false; !isComplete; requests++) {
      const result = await merge('guest', 'ann', {}, 5);
      expect(result.purchases).toBeLessThanOrEqual(5);
      moved += result.purchases;
      isComplete = result.isComplete;
    }
    expect(moved).toBe(count);
    expect(requests).toBe(Math.floor(count / 5) + 1);
    expect(await listOwned('ann')).toEqual(ids.sort());
  });

  it('completes only with the last purchase, even while another call moves the same ones', async () => {
    app = { ...app, strategy: 'first' };
    const ids = await givenPurchases('owner', 12);
    await givenPurchases('guest', 12);
    const listGuests = async () =>
      (await Promise.all(ids.map(async (id) => await listClaims(service, app.name, id))))
        .flat()
        .filter(({ username }) => username === 'guest');
    // Without links: the purchases are found by their claims only.
    expect([await listOwned('guest'), (await listGuests()).length]).toEqual([[], 12]);
    const results = await Promise.all([merge('guest', 'ann', {}, 5), merge('guest', 'ann', {}, 5)]);
    const isComplete = results.some((result) => result.isComplete);
    expect([isComplete, (await listGuests()).length]).toEqual([false, 2]);
  });

  it('continues after a crash at any purchase, without a second webhook', async () => {
    const ids = await givenPurchases('guest', 4);
    for (const isSaved of [false, false, true]) {
      let calls = 0;
      const transact: Table['transact'] = async (writes) => {
        const crashes = ++calls % 2 === 1;
        if (isSaved || !crashes) await table.transact(writes);
        if (crashes) throw new Error('crashed');
      };
      await expect(merge('guest', 'ann', { table: { ...table, transact } })).rejects.toThrow('crashed');
    }
    const [owned, left] = [await listOwned('ann'), await listOwned('guest')];
    expect([...owned, ...left].sort()).toEqual(ids.sort());
    await merge('guest', 'ann');
    expect(await listOwned('ann')).toEqual(ids.sort());
    const versions = await Promise.all(ids.map(async (id) => (await table.get(purchaseKey(app.name, id)))?.version));
    expect(versions).toEqual(ids.map(() => 2));
  });

  it('loses nothing if both customers validate concurrently', async () => {
    const ids = await givenPurchases('guest', 6);
    const validate = async (username: string) =>
      await Promise.all(
        ids.map(async (id) => {
          const observation = createObservation({ purchaseId: id, expirationDate: startDate + 60 * dayMs });
          await recordObservation(service, app.name, { username, observation });
        }),
      );
    await Promise.all([validate('guest'), validate('ann'), merge('guest', 'ann'), merge('guest', 'ann')]);
    // A validation after the move is a new claim, which the next call moves.
    await merge('guest', 'ann');
    expect([await listOwned('ann'), await listOwned('guest')]).toEqual([ids.sort(), []]);
    for (const id of ids)
      expect((await listClaims(service, app.name, id)).map(({ username }) => username)).toEqual(['ann']);
  });

  it('moves aliases: later store notifications identify the customer, and unclaimed purchases are claimed', async () => {
    await givenPurchases('guest', 1);
    await saveUserAliases(service, app.name, {
      username: 'guest',
      obfuscatedUsername: 'alias-of-guest',
      storeAliases: ['alias-of-guest'],
    });
    const md5 = toMd5Alias('guest');
    const unclaimed = createObservation({ purchaseId: 'store_a:unclaimed' }, { userAliases: ['alias-of-guest'] });
    await recordObservation(service, app.name, { observation: unclaimed });
    const { mergeId } = await merge('guest', 'ann');
    const findUsers = async () =>
      await Promise.all(['guest', md5, 'alias-of-guest'].map((alias) => findUserOfAlias(service, app.name, alias)));
    expect(await findUsers()).toEqual(['ann', 'ann', 'ann']);
    expect(await listOwned('ann')).toContain('store_a:unclaimed');
    await reverse('ann', mergeId);
    expect(await findUsers()).toEqual(['guest', 'guest', 'guest']);
  });

  it.each([
    ['an alias of two customers', 'shared', ['guest', 'bob']],
    ['a name that is the alias of another customer', 'guest', ['bob', 'guest']],
  ])('claims no purchase that waits under %s', async (_what, alias, usernames) => {
    for (const username of usernames) await givenAlias(username, alias);
    await givenPurchases('guest', 1);
    const id = 'store_a:unclaimed';
    const unclaimed = createObservation({ purchaseId: id }, { userAliases: [alias] });
    await recordObservation(service, app.name, { observation: unclaimed });
    expect(await findUserOfAlias(service, app.name, alias)).toBeUndefined();
    expect(await merge('guest', 'ann')).toMatchObject({ purchases: 1, isComplete: true });
    expect(await listOwned('ann')).toEqual(['store_a:0']);
    expect(await listUnclaimedPurchases(service, app.name, [alias], 10)).toEqual([id]);
  });

  it.each(['before', 'after'])('moves no alias that is the name of another customer %s it', async (when) => {
    await givenAlias('guest', 'bob');
    if (when === 'before') await givenPurchases('bob', 1);
    await merge('guest', 'ann');
    if (when === 'after') await givenPurchases('bob', 1);
    expect(await findUserOfAlias(service, app.name, 'bob')).toBeUndefined();
  });

  it('keeps the aliases of a merged customer if a request saves them that began before the merge', async () => {
    await merge('guest', 'ann');
    await saveUserAliases(service, app.name, { username: 'guest', storeAliases: [] });
    expect(await findUserOfAlias(service, app.name, toMd5Alias('guest'))).toBe('ann');
  });

  it('identifies the customer of the latest merge by a merged name, and after a reversal the one before', async () => {
    const resolve = async () => await resolveMergedName(createService(table), app.name, 'guest');
    // Received under the MD5 of a customer who did not exist.
    await givenAlias('mallory', toMd5Alias('guest'));
    await merge('mallory', 'eve');
    expect(await resolve()).toBe('guest');
    const first = await merge('guest', 'ann');
    expect(await resolve()).toBe('ann');
    const second = await merge('ann', 'bea');
    expect(await resolve()).toBe('bea');
    await reverse('bea', second.mergeId);
    expect(await resolve()).toBe('ann');
    await reverse('ann', first.mergeId);
    expect(await resolve()).toBe('guest');
  });

  it('claims the purchase of a checkout that the merged customer has begun', async () => {
    await merge('guest', 'ann');
    const observation = { ...createObservation({ purchaseId: 'store_a:paid-later' }), checkoutUsername: 'guest' };
    await recordObservation(createService(table), app.name, {
      trigger: 'notification',
      observation,
      strategy: app.strategy,
    });
    expect(await listOwned('ann')).toEqual(['store_a:paid-later']);
  });

  it('moves nothing of an erased customer, and ends the erasure of a customer who returns', async () => {
    await addErasedNames(service, app.name, ['guest', 'ann', toMd5Alias('ann')]);
    expect(await merge('guest', 'ann')).toMatchObject({ purchases: 0, aliases: 0, isComplete: true });
    expect(await selectErasedNames(service, app.name, ['guest'])).toEqual(['guest']);
    await givenPurchases('visitor', 1);
    await merge('visitor', 'ann');
    expect(await selectErasedNames(service, app.name, ['guest', 'ann'])).toEqual(['guest']);
  });
});

describe('grants of merged customers', () => {
  const until = startDate + 10 * dayMs;
  const findAppWithWebhook = async () => ({
    ...app,
    webhookSettings: { urls: ['https://app.test'], sandboxUrls: [], includesPassword: false },
  });
  const announce = async (username: string, before?: Item) => {
    const after = await table.get(grantKey(app.name, username, 'grant_1'));
    if (!after) throw new Error('The grant is missing.');
    const record = buildStreamRecord({ ...(before && { before }), after }, 0);
    return (await buildGrantDeliveries(service, record, findAppWithWebhook)).map((delivery) => [
      delivery.username,
      delivery.notification.reason,
    ]);
  };

  it('move with their end, and announce the change to both customers', async () => {
    await givenGrant('guest', { until });
    const before = await table.get(grantKey(app.name, 'guest', 'grant_1'));
    const { grants } = await merge('guest', 'ann');
    expect(grants).toBe(1);
    expect(await listStoredGrants(service, app.name, 'ann')).toMatchObject([
      { grantId: 'grant_1', until, createdBy: key },
    ]);
    expect(await announce('guest', before)).toEqual([['guest', 'OTHER']]);
    expect(await announce('ann')).toEqual([['ann', 'OTHER']]);
  });

  it('announce nothing if they had ended before', async () => {
    await givenGrant('guest', { revokedAt: startDate - dayMs, revokedBy: key });
    const before = await table.get(grantKey(app.name, 'guest', 'grant_1'));
    await merge('guest', 'ann');
    expect([await announce('guest', before), await announce('ann')]).toEqual([[], []]);
  });

  it('keep apart if both customers have one with the same idempotency key', async () => {
    await givenGrant('guest', { until });
    await givenGrant('ann', { reason: 'her own' });
    await merge('guest', 'ann');
    const reasons = (await listStoredGrants(service, app.name, 'ann')).map(({ reason }) => reason).sort();
    expect(reasons).toEqual(['a test', 'her own']);
  });

  it('return with the changes that were made since', async () => {
    await givenGrant('guest', { until });
    const { mergeId } = await merge('guest', 'ann');
    const later = until + dayMs;
    await changeGrantEnd(service, 'grant_1', later, { appName: app.name, username: 'ann', key });
    expect(await reverse('ann', mergeId)).toMatchObject({ grants: 1 });
    const [grant] = await listStoredGrants(service, app.name, 'guest');
    expect(grant).toMatchObject({ until: later });
    expect(grant).not.toHaveProperty('movedAt');
    expect(await reverse('ann', mergeId)).toMatchObject({ grants: 0, purchases: 0 });
  });
});

describe('reverseMerge', () => {
  it('returns the purchases of a merge, not the own ones of the customer', async () => {
    const ids = await givenPurchases('guest', 3);
    const own = createObservation({ purchaseId: 'store_a:own', expirationDate: startDate + dayMs });
    await recordObservation(service, app.name, { username: 'ann', observation: own });
    const shared = createObservation({ purchaseId: ids[0] ?? '', expirationDate: startDate + 30 * dayMs });
    await recordObservation(service, app.name, { username: 'ann', observation: shared });
    const { mergeId } = await merge('guest', 'ann');
    expect(await reverse('ann', mergeId)).toMatchObject({ purchases: 3, isComplete: true });
    expect(await listOwned('guest')).toEqual(ids.sort());
    expect(await listOwned('ann')).toEqual([ids[0], 'store_a:own'].sort());
    expect((await listMerges(service, app.name, 'ann'))[0]).toMatchObject({ reversedBy: key });
    expect(await merge('guest', 'ann')).toMatchObject({ mergeId, purchases: 3 });
  });

  it('returns a purchase that was unclaimed to the aliases of the merged customer', async () => {
    const purchaseId = 'store_a:waiting';
    const userAliases = [toMd5Alias('guest')];
    const observation = createObservation({ purchaseId, expirationDate: startDate + dayMs }, { userAliases });
    await recordObservation(service, app.name, { trigger: 'notification', observation, strategy: app.strategy });
    const { mergeId, purchases } = await merge('guest', 'ann');
    expect([purchases, await listOwned('ann')]).toEqual([1, [purchaseId]]);
    expect(await reverse('ann', mergeId)).toMatchObject({ purchases: 1, isComplete: true });
    expect(await listOwned('ann')).toEqual([]);
    expect(await listUnclaimedPurchases(service, app.name, userAliases, 10)).toEqual([purchaseId]);
    expect(await merge('guest', 'bob')).toMatchObject({ purchases: 1 });
    expect(await listOwned('bob')).toEqual([purchaseId]);
  });

  it('throws ResourceNotFound for an unknown merge', async () => {
    await expect(reverse('ann', 'merge_0')).rejects.toMatchObject({ code: 'ResourceNotFound' });
  });
});

describe('eraseCustomer after a merge', () => {
  it.each(['guest', 'ann', 'bea'])('leaves no name of %s after two merges in a row', async (erased) => {
    const names = Object.fromEntries(['guest', 'ann', 'bea'].map((name) => [name, createUniqueName(name)]));
    const { guest = '', ann = '', bea = '' } = names;
    const alias = createUniqueName('alias');
    await givenPurchases(guest, 2);
    await givenAlias(guest, alias);
    await merge(guest, ann);
    const { mergeId } = await merge(ann, bea);
    await eraseCustomer(service, app, names[erased] ?? '', noWait);
    const items = (await scanItems(table.name)).filter(({ pk }) => String(pk).startsWith(`${app.name}#`));
    const erasedNames = [names[erased] ?? '', toMd5Alias(names[erased] ?? ''), ...(erased === 'guest' ? [alias] : [])];
    expect(findNames(items.map(formatItem), erasedNames)).toEqual([]);
    expect(await listOwned(bea)).toHaveLength(erased === 'bea' ? 0 : 2);
    if (erased !== 'guest') return;
    await reverse(bea, mergeId);
    const resolved = await resolveMergedName(createService(table), app.name, ann);
    expect(resolved).toBe(ann);
  });

  it.each([
    ['guest', 'ann'],
    ['ann', 'guest'],
  ])('leaves no name of %s, whether it was merged or received', async (erased, other) => {
    const [guest, ann] = ['guest', 'ann'].map((name) => createUniqueName(name)) as [string, string];
    const names = { guest, ann } as Record<string, string>;
    await givenPurchases(guest, 2);
    await givenGrant(guest);
    await merge(guest, ann);
    await eraseCustomer(service, app, names[erased] ?? '', noWait);
    const items = (await scanItems(table.name)).filter(({ pk }) => String(pk).startsWith(`${app.name}#`));
    expect(findNames(items.map(formatItem), [names[erased] ?? ''])).toEqual([]);
    expect(await listOwned(names[other] ?? '')).toHaveLength(other === 'ann' ? 2 : 0);
  });
});
