import { describe, expect, it } from '@jest/globals';
import { listCustomers } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { recordPurchase } from '../../lib/purchases/record-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { buildLinkInput } from '../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

const table = startBeforeAll(createTestTable);

describe('GET /v3/purchases', () => {
  it('returns purchases with their entitled users, by creation or by their last change', async () => {
    const keys = await givenApp(table);
    const today = new Date().toISOString().slice(0, 10);
    await givenPaidPurchase(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callWithSecretKey(listPurchases, keys, { query })).body;
    expect((await list({})).rows).toMatchObject([{ purchaseId: 'store_a:1', entitledUsers: ['ann'], raw: null }]);
    expect((await list({ startdate: today, limit: '1', skip: '5', include_notifications: 'true' })).rows).toMatchObject(
      [{ purchaseId: 'store_a:1', notifications: [{ reason: 'PURCHASED' }] }],
    );
    expect((await list({ enddate: today })).rows).toEqual([]);
    expect((await list({ offset: '1' })).rows).toEqual([]);
  });

  it('returns only the purchases of the customer in customerId, oldest first, page by page or by their last change', async () => {
    const keys = await givenApp(table);
    for (const [id, user] of [
      ['3', 'ann'],
      ['1', 'ann'],
      ['2', 'bob'],
    ] as const) {
      const bought = {
        purchaseId: `store_a:${id}`,
        purchaseDate: paidAt + Number(id) * dayMs,
        expirationDate: paidAt + 60 * dayMs,
      };
      await givenPurchase(keys.appName, user, createObservation(bought));
    }
    const list = async (query: Record<string, string>, app = keys) => {
      const { body } = await callWithSecretKey(listPurchases, app, { query });
      return { ids: body.rows.map(({ purchaseId }: { purchaseId: string }) => purchaseId), ...body.paging };
    };
    const [customerId, page] = ['ann', { skip: 0, limit: 100, total: 2 }];
    expect(await list({ customerId })).toEqual({ ...page, ids: ['store_a:1', 'store_a:3'] });
    expect(await list({ customerId, limit: '1', offset: '1' })).toEqual({
      ...page,
      skip: 1,
      limit: 1,
      ids: ['store_a:3'],
    });
    expect((await list({ customerId: 'eve' })).ids).toEqual([]);
    expect((await list({ customerId }, await givenApp(table))).ids).toEqual([]);
    const tomorrow = new Date(Date.now() + dayMs).toISOString();
    expect(await list({ customerId, enddate: tomorrow, limit: '1' })).toEqual({
      ...page,
      limit: 2,
      ids: ['store_a:1', 'store_a:3'],
    });
    expect((await list({ customerId, startdate: tomorrow })).ids).toEqual([]);
    const response = await callWithSecretKey(listPurchases, keys, {
      query: { customerId, include_notifications: 'true' },
    });
    expect(response.body.rows[0]).toMatchObject({ notifications: [{ reason: 'PURCHASED' }] });
  });

  it('returns the purchases of a customer newest first with order=newest, page by page', async () => {
    const keys = await givenApp(table);
    for (let number = 1; number <= 5; number++) {
      const purchase = { purchaseId: `store_a:${number}`, purchaseDate: paidAt + number * dayMs };
      await givenPurchase(keys.appName, 'ann', createObservation(purchase));
    }
    const list = async (query: Record<string, string>) => {
      const { body } = await callWithSecretKey(listPurchases, keys, { query: { customerId: 'ann', ...query } });
      return [body.rows.map(({ purchaseId }: { purchaseId: string }) => purchaseId), body.paging];
    };
    const pages = [
      [['store_a:5', 'store_a:4'], 0],
      [['store_a:3', 'store_a:2'], 2],
      [['store_a:1'], 4],
    ] as const;
    for (const [ids, skip] of pages) {
      const query = { order: 'newest', limit: '2', skip: String(skip) };
      expect(await list(query)).toEqual([ids, { skip, limit: 2, total: 5 }]);
    }
    expect((await list({ order: 'oldest' }))[0]).toEqual((await list({}))[0]);
  });

  it('returns only the purchases of a customer that give access now with active=true', async () => {
    const keys = await givenApp(table);
    const purchases: readonly Partial<Purchase>[] = [
      { purchaseId: 'store_a:1' },
      { purchaseId: 'store_a:2', expirationDate: Date.now() - dayMs },
      { purchaseId: 'store_a:3', productType: 'consumable', isConsumed: true },
      { purchaseId: 'store_a:4', isPending: true },
      { purchaseId: 'store_a:5' },
    ];
    for (const [index, purchase] of purchases.entries()) {
      const dates = { purchaseDate: paidAt + index * dayMs, expirationDate: Date.now() + dayMs };
      const productId = `store_a:product-${index}`;
      await givenPurchase(keys.appName, 'ann', createObservation({ ...dates, productId, ...purchase }));
    }
    const list = async (query: Record<string, string>) => {
      const { body } = await callWithSecretKey(listPurchases, keys, { query: { customerId: 'ann', ...query } });
      return [body.rows.map(({ purchaseId }: { purchaseId: string }) => purchaseId), body.paging.total];
    };
    expect(await list({ active: 'true' })).toEqual([['store_a:1', 'store_a:5'], 2]);
    expect(await list({ active: 'true', order: 'newest' })).toEqual([['store_a:5', 'store_a:1'], 2]);
    expect((await list({ active: 'false' }))[1]).toBe(5);
  });

  it.each([{ order: 'newest' }, { order: 'sideways' }, { active: 'true' }, { order: 'newest', customerId: '' }])(
    'ignores the order and the selection without a customer: %p',
    async (query) => {
      const keys = await givenApp(table);
      for (const [index, expirationDate] of [Date.now() + dayMs, Date.now() - dayMs].entries()) {
        const purchase = { purchaseId: `store_a:${index}`, purchaseDate: paidAt + index * dayMs, expirationDate };
        await givenPurchase(keys.appName, 'ann', createObservation(purchase));
      }
      const all = await callWithSecretKey(listPurchases, keys);
      expect(all.body.rows).toHaveLength(2);
      const { status, body } = await callWithSecretKey(listPurchases, keys, { query });
      expect([status, body]).toEqual([200, all.body]);
    },
  );

  it('rejects an unknown order of the purchases of a customer', async () => {
    const keys = await givenApp(table);
    const query = { customerId: 'ann', order: 'sideways' };
    const { status, body } = await callWithSecretKey(listPurchases, keys, { query });
    expect([status, body.code]).toEqual([400, 'InvalidPayload']);
    expect(body.message).toMatch(/^order: expected /);
  });

  it('hides a purchase from the customerId who lost it', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    await recordPurchase(getService(), keys.appName, 'store_a:1', buildLinkInput('bob', Date.now()));
    const list = async (customerId: string) =>
      (await callWithSecretKey(listPurchases, keys, { query: { customerId } })).body.rows;
    expect(await list('ann')).toEqual([]);
    expect(await list('bob')).toMatchObject([{ entitledUsers: ['bob'] }]);
  });
});

describe('GET /v3/customers', () => {
  it('returns a customer with the summary of the last purchase', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(listCustomers, keys);
    expect(body).toMatchObject({
      paging: { skip: 0, limit: 100, total: 1 },
      rows: [{ applicationUsername: 'ann', customerInfo: { activeSubscriber: true, lapsedSubscriber: false } }],
    });
  });

  it('finds customers by a list of encoded usernames, and rejects an invalid one', async () => {
    const keys = await givenApp(table);
    for (const name of ['alice', 'bob kal', '100%', 'eve']) await givenPaidPurchase(keys, name);
    const list = async (applicationUsername: string) =>
      await callWithSecretKey(listCustomers, keys, { query: { applicationUsername } });
    const { body } = await list('100%25,bob%20kal,alice');
    expect(body.rows.map((row: { applicationUsername: string }) => row.applicationUsername)).toEqual([
      '100%',
      'bob kal',
      'alice',
    ]);
    expect(await list('x'.repeat(901))).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });
});
