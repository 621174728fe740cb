import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { strategies } from '../../lib/apps/app.ts';
import { changeSettings, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { getCustomerCredits, giveCredits } from '../../lib/credits/contract.ts';
import { addCustomerPurchase, mergeCustomer } from '../../lib/customers/claim-contract.ts';
import { getCustomerTimeline } from '../../lib/customers/contract.ts';
import { createGrant, explainAccess, getCustomerEntitlements, listGrants } from '../../lib/entitlements/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { addErasedNames } from '../../lib/purchases/erased-name-table.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { listClaims } from '../../lib/purchases/purchase-table.ts';
import { findUserOfAlias, saveUserAliases } from '../../lib/purchases/user-alias-table.ts';
import { toMd5Alias } from '../../lib/purchases/user-aliases.ts';
import { setRefundConsent } from '../../lib/refunds/contract.ts';
import { type CallOptions, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

const service = startBeforeAll(startTestService);
let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await service.createApp(['processor_a']);
  const catalogue = { 'store_a:monthly': { type: 'paid subscription', entitlements: ['premium'] } } as const;
  await saveCatalogue(getService(), keys.appName, catalogue);
});

const call = async (contract: Contract, applicationUsername: string, options: CallOptions = {}) =>
  await callWithSecretKey(contract, keys, { params: { applicationUsername }, ...options });
const merge = async (from: string, to: string) => await call(mergeCustomer, to, { body: { from } });
const readNames = async (username: string): Promise<string[]> => {
  const { body } = await call(getCustomerEntitlements, username);
  return Object.entries<{ isActive: boolean }>(body.entitlements).flatMap(([name, { isActive }]) =>
    isActive ? [name] : [],
  );
};

describe('POST /v3/customers/:applicationUsername/merge', () => {
  it('moves purchases and grants to the customer, once', async () => {
    await givenPaidPurchase(keys, 'guest');
    await call(createGrant, 'guest', { body: { entitlement: 'beta', reason: 'tester' } });
    const first = await merge('guest', 'ann');
    expect(first).toMatchObject({
      status: 200,
      body: { ok: true, applicationUsername: 'ann', from: 'guest', purchases: 1, grants: 1, isComplete: true },
    });
    expect(await readNames('ann')).toEqual(['beta', 'premium']);
    expect(await readNames('guest')).toEqual([]);
    const again = await merge('guest', 'ann');
    expect(again.body).toEqual({ ...first.body, purchases: 0, grants: 0 });
    expect(await readNames('ann')).toEqual(['beta', 'premium']);
  });

  it('accepts a customer who has nothing, and rejects the same customer', async () => {
    expect((await merge('unknown', 'ann')).body).toMatchObject({ purchases: 0, grants: 0, isComplete: true });
    expect(await merge('ann', 'ann')).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    expect((await call(mergeCustomer, 'ann', { body: {} })).status).toBe(400);
  });

  it.each(strategies)('keeps later validations under the merged name with the customer (%s)', async (strategy) => {
    keys = await service.createApp(['store_a']);
    await changeSettings(getService(), keys.appName, { strategy });
    const alias = createUniqueName('alias');
    const buy = async (applicationUsername: string) => {
      const order = { platform: 'store_a', productId: createUniqueName('coins'), type: 'consumable', form: 'signed' };
      return (await service.callControl('/purchases', { ...order, applicationUsername })).validate;
    };
    const validate = async (receipt: object) => {
      const additionalData = { applicationUsername: 'guest', obfuscatedUsername: 'guest' };
      return (await service.validate(keys, { ...receipt, additionalData })).body;
    };
    const earlier = await buy('guest');
    expect(await validate(earlier)).toMatchObject({ ok: true });
    await saveUserAliases(getService(), keys.appName, {
      username: 'guest',
      obfuscatedUsername: alias,
      storeAliases: [alias],
    });
    await merge('guest', 'ann');
    // Functions cache an app for 15 seconds.
    await service.callControl('/clock', { advance: 'PT1M' });
    for (const receipt of [earlier, await buy('guest')]) {
      const { ok, data } = await validate(receipt);
      expect([ok, data.collection.length]).toEqual([true, 1]);
      const purchaseId = `store_a:${data.collection[0].purchaseId}`;
      const { body } = await callWithSecretKey(getPurchase, keys, { params: { purchaseId } });
      expect(body.entitledUsers).toEqual(['ann']);
      const claims = await listClaims(getService(), keys.appName, purchaseId);
      expect(claims.map(({ username }) => username)).toEqual(['ann']);
    }
    for (const name of ['guest', toMd5Alias('guest'), alias])
      expect(await findUserOfAlias(getService(), keys.appName, name)).toBe('ann');
  });

  it('gives the customer what is later given to the merged name: purchases, grants and credits', async () => {
    await givenPaidPurchase(keys, 'other');
    const [purchaseId] = (await listRepresentativePurchases(getService(), keys.appName, 'other')).map(
      (purchase) => purchase.purchaseId,
    );
    const gift = { credit: 'coins', amount: 10, idempotencyKey: 'before', reason: 'a gift' };
    const grant = { entitlement: 'beta', reason: 'tester', idempotencyKey: 'before' };
    await call(giveCredits, 'guest', { body: gift });
    await call(createGrant, 'guest', { body: grant });
    await merge('guest', 'ann');
    // Functions cache for 15 seconds that an app has no merges.
    await service.callControl('/clock', { advance: 'PT1M' });
    const link = await call(addCustomerPurchase, 'guest', { body: { purchaseId } });
    expect(link.body).toMatchObject({ ok: true, applicationUsername: 'ann' });
    const owned = await listRepresentativePurchases(getService(), keys.appName, 'ann');
    expect(owned.map((purchase) => purchase.purchaseId)).toEqual([purchaseId]);
    // A repetition of a request before the merge gives nothing again.
    for (const idempotencyKey of ['before', 'after']) {
      expect((await call(createGrant, 'guest', { body: { ...grant, idempotencyKey } })).status).toBeLessThan(300);
      expect((await call(giveCredits, 'guest', { body: { ...gift, idempotencyKey } })).status).toBe(200);
    }
    const { rows } = (await call(listGrants, 'ann')).body;
    expect(rows).toHaveLength(2);
    expect((await call(getCustomerCredits, 'ann')).body.credits).toMatchObject({ coins: { balance: 20 } });
    expect((await call(setRefundConsent, 'guest', { body: { consented: true } })).body).toMatchObject({
      applicationUsername: 'ann',
    });
  });

  it('appears in the timelines of both customers, and explains the access of both', async () => {
    await givenPaidPurchase(keys, 'guest');
    const { mergeId } = (await merge('guest', 'ann')).body;
    for (const username of ['ann', 'guest']) {
      const types = (await findEvents(keys, username)).map(
        (event: { context: { eventType: string } }) => event.context.eventType,
      );
      expect(types).toContain('customer.merged');
      const { rows } = (await call(getCustomerTimeline, username)).body;
      expect(JSON.stringify(rows)).toContain('customer.merged');
    }
    const explain = async (username: string) =>
      (await call(explainAccess, username, { query: { entitlement: 'premium' } })).body;
    expect((await explain('ann')).because).toContainEqual(
      expect.objectContaining({
        source: mergeId,
        what: 'The purchases and grants of guest were moved to this customer with the key main.',
      }),
    );
    expect(await explain('guest')).toMatchObject({
      isActive: false,
      because: expect.arrayContaining([
        expect.objectContaining({
          what: 'The purchases and grants of this customer were moved to ann with the key main.',
        }),
      ]),
    });
  });
});

describe('GET /v3/customers/:applicationUsername/why', () => {
  it('says that the data of the customer were erased', async () => {
    await addErasedNames(getService(), keys.appName, ['ann']);
    // Functions cache an app for 15 seconds.
    await service.callControl('/clock', { advance: 'PT1M' });
    const { because } = (await call(explainAccess, 'ann', { query: { entitlement: 'premium' } })).body;
    expect(because).toContainEqual(
      expect.objectContaining({ source: 'customer', what: expect.stringContaining('were erased') }),
    );
  });
});
