import { describe, expect, it } from '@jest/globals';
import { findStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { parseKeyTimestamp } from '../../lib/foundation/key.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { checkStoreKeys } from '../../lib/health/check-store-keys.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { listStores } from '../../lib/stores/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

let productCount = 0;

/** Buys a product of the Microsoft Store. `read` returns its record, `refresh` queries the store for it. */
async function buy(order: object, settings: object = {}) {
  const keys = await service.createApp(['store_c'], settings);
  productCount += 1;
  const storeId = `9NBLGGJ${String(productCount).padStart(5, '0')}`;
  const { id, validate } = await service.callControl('/purchases', {
    platform: 'store_c',
    productId: storeId,
    applicationUsername: 'ann',
    ...order,
  });
  const purchaseId = `store_c:${id}`;
  return {
    keys,
    storeId,
    purchaseId,
    validate: async (changes: object = {}) => (await service.validate(keys, { ...validate, ...changes })).body,
    /** What the app sends when it is opened again: the device has created a StoreID key. */
    validateAgain: async () =>
      (await service.validate(keys, (await service.callControl(`/purchases/${encodeURIComponent(id)}`)).validate)).body,
    act: async (action: string) => await service.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, {}),
    refresh: async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId }),
    read: async () =>
      (
        await callWithSecretKey(getPurchase, keys, {
          params: { purchaseId },
          query: { include_notifications: 'true', include_transactions: 'true' },
        })
      ).body,
    listTransactions: async () => await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]),
    findDueTime: async () => {
      const { dueSk } = (await getService().table.get(purchaseKey(keys.appName, purchaseId))) ?? {};
      return dueSk === undefined ? undefined : parseKeyTimestamp(String(dueSk));
    },
  };
}

const listReasons = ({ notifications }: { notifications: { reason: string }[] }): string[] =>
  notifications.map(({ reason }) => reason);

describe('validateReceipt (Microsoft Store) with the id of another product', () => {
  it('accepts an id that the setting productIds maps to the owned product', async () => {
    const productIds = { gold: '9NBLGGJGOLD1', silver: '9NBLGGJSILV1' };
    const { validate } = await buy({ type: 'non consumable', productId: '9NBLGGJGOLD1' }, { productIds });
    expect(await validate({ id: 'gold' })).toMatchObject({
      ok: true,
      data: { id: 'gold', collection: [{ id: '9NBLGGJGOLD1' }] },
    });
    expect(await validate({ id: 'silver' })).toMatchObject({ ok: false, code: 6778001 });
  });
});

describe('revoked item of the Microsoft Store', () => {
  it('keeps its payment and has the reason REVOKED', async () => {
    const { validate, act, refresh, read, listTransactions } = await buy({ type: 'non consumable' });
    await validate();
    await act('revoke');
    await refresh();
    expect(await read()).toMatchObject({ isExpired: true, cancelationReason: 'Customer' });
    expect(listReasons(await read())).toEqual(['PURCHASED', 'REVOKED']);
    const [payment] = await listTransactions();
    expect(payment).toMatchObject({ amountMicros: 4_990_000 });
    expect(payment).not.toHaveProperty('refundedAt');
  });
});

describe('one-time purchase of the Microsoft Store', () => {
  it.each([
    ['developer-managed', {}],
    ['store-managed', { quantity: 1 }],
  ])('receives daily refreshes until a device consumes the %s consumable', async (_kind, order) => {
    const { validate, act, refresh, read, findDueTime } = await buy({ type: 'consumable', ...order });
    await validate();
    const dueTime = await findDueTime();
    expect(Number(dueTime) - Date.now()).toBeLessThanOrEqual(dayMs);
    await act('consume');
    await refresh();
    expect(await read()).toMatchObject({ isConsumed: true });
    expect(await findDueTime()).toBeUndefined();
  });
});

describe('consumable of the Microsoft Store', () => {
  it.each([
    ['developer-managed', {}],
    ['store-managed', { quantity: 2 }],
  ])('gives access and is counted and consumed again after another purchase (%s)', async (_kind, order) => {
    const { keys, storeId, validate } = await buy({ type: 'consumable', ...order }, { consume: true });
    const ids: unknown[] = [];
    for (const count of [1, 2]) {
      if (count === 2) {
        const again = {
          platform: 'store_c',
          productId: storeId,
          applicationUsername: 'ann',
          type: 'consumable',
          ...order,
        };
        await service.callControl('/purchases', again);
      }
      const { ok, data } = await validate();
      expect({ count, ok, collection: data.collection.length }).toEqual({ count, ok: true, collection: 1 });
      ids.push(data.transaction.transactionId);
      const { rows } = (await callWithSecretKey(listTransactions, keys, { query: {} })).body;
      expect(rows.map(({ amountMicros }: { amountMicros: number }) => amountMicros)).toEqual(
        Array(count).fill(4_990_000),
      );
    }
    expect(new Set(ids).size).toBe(2);
    // A client that repeats its request receives the same result, and it counts nothing.
    expect((await validate()).data.transaction.transactionId).toBe(ids[1]);
    expect((await callWithSecretKey(listTransactions, keys, { query: {} })).body.rows).toHaveLength(2);
  });
});

describe('store-managed consumable of the Microsoft Store that is bought twice between two validations', () => {
  it('counts both payments, grants the balance once, and assigns the refund of the latest', async () => {
    const order = { type: 'consumable', quantity: 2 };
    const { keys, storeId, validate, act } = await buy(order, { consume: true });
    await service.callControl('/purchases', {
      platform: 'store_c',
      productId: storeId,
      applicationUsername: 'ann',
      ...order,
    });
    const listPayments = async () => (await callWithSecretKey(listTransactions, keys, { query: {} })).body.rows;
    for (const _repetition of [1, 2]) {
      const { ok, data } = await validate();
      expect({ ok, collection: data.collection }).toMatchObject({
        ok: true,
        collection: [{ quantity: 4, isConsumed: false }],
      });
      const payments = await listPayments();
      expect(payments.map(({ amountMicros }: { amountMicros: number }) => amountMicros)).toEqual([
        4_990_000, 4_990_000,
      ]);
      expect(new Set(payments.map(({ transactionId }: { transactionId: string }) => transactionId)).size).toBe(2);
    }
    const { paidMicros } = await act('refund');
    expect(paidMicros).toBe(2 * 4_990_000);
  });

  it.each(['validation', 'refresh'] as const)(
    'counts both payments at the next %s if the response of the consumption is lost',
    async (observer) => {
      const order = { type: 'consumable', quantity: 2 };
      const { keys, storeId, validate, refresh, read } = await buy(order, { consume: true });
      const again = { platform: 'store_c', productId: storeId, applicationUsername: 'ann', ...order };
      await service.callControl('/purchases', again);
      await service.callControl('/faults', { platform: 'store_c', fault: 'cut', path: '/consume', times: 10 });
      expect(await validate()).toMatchObject({ ok: true, data: { collection: [{ quantity: 4, isConsumed: false }] } });
      await service.clearFaults();
      for (const _repetition of [1, 2]) await (observer === 'validation' ? validate() : refresh());
      expect(await read()).toMatchObject({ isConsumed: true, quantity: 0 });
      const payments = (await callWithSecretKey(listTransactions, keys, { query: {} })).body.rows;
      expect(payments).toMatchObject([{ amountMicros: 4_990_000 }, { amountMicros: 4_990_000 }]);
    },
  );

  it('counts the latest payment if a device consumes the balance', async () => {
    const order = { type: 'consumable', quantity: 2 };
    const { keys, storeId, validate } = await buy(order);
    await service.callControl('/purchases', {
      platform: 'store_c',
      productId: storeId,
      applicationUsername: 'ann',
      ...order,
    });
    expect((await validate()).data.collection).toMatchObject([{ quantity: 4 }]);
    expect((await callWithSecretKey(listTransactions, keys, { query: {} })).body.rows).toHaveLength(1);
  });
});

describe('subscription of the Microsoft Store', () => {
  it('shows the date of the latest change of the renewal intent', async () => {
    const { validate, act, refresh, read } = await buy({ type: 'paid subscription' });
    await validate();
    expect(await read()).not.toHaveProperty('renewalIntentChangeDate');
    await act('cancel');
    await refresh();
    const canceled = await read();
    await service.callControl('/clock', { advance: 'PT2H' });
    await act('uncancel');
    await refresh();
    const resumed = await read();
    expect(resumed).toMatchObject({ renewalIntent: 'Renew', renewalIntentChangeDate: expect.any(String) });
    expect(Date.parse(resumed.renewalIntentChangeDate)).toBeGreaterThan(Date.parse(canceled.renewalIntentChangeDate));
  });

  it.each([
    ['a payment', {}],
    ['a trial', { trial: 'P1M' }],
  ])('estimates the amount of a renewal by the price that the client reported for %s', async (_first, order) => {
    const { validate, act, refresh, listTransactions } = await buy({ type: 'paid subscription', ...order });
    await validate({ priceMicros: 3_990_000, currency: 'EUR' });
    await act('renew');
    await refresh();
    const [estimated] = await listTransactions();
    expect(estimated).toMatchObject({ amountMicros: 3_990_000, currency: 'EUR', isReportedAmount: true });
    await validate({ priceMicros: undefined, currency: undefined });
    expect((await listTransactions())[0]).toEqual(estimated);
    // The amount of this payment takes precedence over the estimate.
    await validate({ priceMicros: 4_990_000, currency: 'EUR' });
    expect((await listTransactions())[0]).toMatchObject({ amountMicros: 4_990_000, isReportedAmount: true });
  });

  it('makes the customer ineligible for a second trial', async () => {
    const { validate, storeId } = await buy({ type: 'paid subscription', trial: true });
    expect(await validate()).toMatchObject({ ok: true, data: { ineligible_for_intro_price: [storeId] } });
  });
});

describe('subscription of the Microsoft Store whose StoreID key has expired', () => {
  type Bought = Awaited<ReturnType<typeof buy>>;
  const deaths: readonly [death: string, kill: (bought: Bought) => Promise<void>][] = [
    ['expired', async () => undefined],
    ['was revoked', async ({ act }) => void (await act('revoke-keys'))],
    [
      'is of an Entra application that was replaced',
      async ({ keys }) => {
        const settings = (await findStoreSettings(getService(), keys.appName, 'store_c')) as object;
        await setStoreSettings(getService(), keys.appName, 'store_c', { ...settings, clientId: 'another' });
      },
    ],
  ];
  const advance = async (period: string) => await service.callControl('/clock', { advance: period });
  const findExpiredKey = async ({ keys }: Bought) =>
    (await callWithSecretKey(listStores, keys)).body.rows[0].expiredKey;

  it.each(deaths)('keeps access for one more period, without EXPIRED, if the key %s', async (_death, kill) => {
    const bought = await buy({ type: 'paid subscription', autoRenew: true });
    await bought.validate();
    expect(await findExpiredKey(bought)).toBeUndefined();
    await kill(bought);
    await advance('P32D');
    for (const period of ['PT1H', 'PT26H', 'P20D']) {
      await advance(period);
      expect(await bought.refresh()).toBe(false);
      expect(await bought.read()).toMatchObject({ isExpired: false });
      expect(await findExpiredKey(bought)).toMatchObject({ message: 'A StoreID key for purchases is required.' });
    }
    expect(listReasons(await bought.read())).toEqual(['PURCHASED']);
    await advance('P11D');
    await bought.refresh();
    expect(await bought.read()).toMatchObject({ isExpired: true });
    expect(listReasons(await bought.read())).toEqual(['PURCHASED', 'EXPIRED']);
  });

  it('regains its paid access after the next validation of the app', async () => {
    const bought = await buy({ type: 'paid subscription', autoRenew: true });
    const { appName } = bought.keys;
    expect(await bought.validate({ license: {} })).toMatchObject({ ok: false, code: 6778006 });
    await bought.validate();
    expect(await checkStoreKeys(getService(), appName)).toEqual([]);
    await advance('P65D');
    await bought.refresh();
    expect(await bought.read()).toMatchObject({ isExpired: true });
    expect(await checkStoreKeys(getService(), appName)).toMatchObject([
      { code: 'store-keys-expired', severity: 'warning', app: appName, platform: 'store_c' },
    ]);
    expect(await bought.validateAgain()).toMatchObject({ ok: true });
    expect(await bought.read()).toMatchObject({ isExpired: false });
    expect(listReasons(await bought.read())).toEqual(['PURCHASED', 'EXPIRED', 'RENEWED']);
    await advance('P3D');
    expect(await bought.refresh()).toBe(true);
    expect(await findExpiredKey(bought)).toBeUndefined();
    expect(await checkStoreKeys(getService(), appName)).toEqual([]);
  });
});

/** Creates a StoreID key like a client's device does with a service ticket. */
async function createKey(ticket: { serviceTicketType: string; serviceTicket: string }, publisherUserId: string) {
  const path = `/onestore.microsoft.com/b2b/keys/create/${ticket.serviceTicketType}`;
  const body = JSON.stringify({ serviceTicket: ticket.serviceTicket, publisherUserId });
  return (await (await fetch(service.emulatorUrl + path, { method: 'POST', body })).json()) as { key: string };
}

describe('POST /v1/validate (Microsoft Store)', () => {
  const buyOnly = async (order: object) => await service.callControl('/purchases', { platform: 'store_c', ...order });

  it('returns a ticket to an existing client, then its subscription', async () => {
    const keys = await service.createApp(['store_c']);
    const { id } = await buyOnly({ productId: '9NBLGGH52Q8X', type: 'paid subscription', applicationUsername: 'Ann' });
    const getForm = (name: string) => service.callControl(`/purchases/${encodeURIComponent(id)}?form=${name}`);
    const [{ validate: brand }, { validate: withoutKey }] = [await getForm('brand'), await getForm('ticket')];
    const first = await service.validate(keys, { ...withoutKey, transaction: brand.transaction });
    const ticket = { serviceTicketType: 'purchase', serviceTicket: expect.any(String) };
    expect(first).toMatchObject({
      status: 200,
      body: {
        ok: false,
        status: 412,
        code: 6778006,
        data: { ...ticket, transaction: { type: 'windows-store-transaction', ...ticket } },
      },
    });
    const { key } = await createKey(first.body.data, 'Ann');
    const license = { type: 'windows-store-license', storeIdKey_purchase: key, storeIdKey_collections: null };
    const second = await service.validate(keys, { ...withoutKey, transaction: brand.transaction, license });
    expect(second).toMatchObject({
      status: 200,
      body: {
        ok: true,
        data: {
          id: '9NBLGGH52Q8X',
          transaction: { type: 'windows-store-transaction', transactionId: id, recurrenceState: 'Active' },
          collection: [
            {
              id: '9NBLGGH52Q8X',
              platform: 'windows-store-transaction',
              purchaseId: id,
              transactionId: id,
              isExpired: false,
              renewalIntent: 'Renew',
            },
          ],
        },
      },
    });
  });

  it.each([
    ['developer-managed', {}],
    ['store-managed', { quantity: 2 }],
  ])(
    'returns a %s consumable that it consumed as not consumed, also to a client that lost the response',
    async (_kind, quantity) => {
      const keys = await service.createApp(['store_c'], { consume: true });
      const applicationUsername = createUniqueName('user');
      const order = { type: 'consumable', productId: '9NBLGGH5WVP6', applicationUsername, ...quantity };
      const { id, validate } = await buyOnly(order);
      const { body: first } = await service.validate(keys, validate);
      expect(first).toMatchObject({
        ok: true,
        data: { collection: [{ isConsumed: false, quantity: 1, ...quantity }] },
      });
      expect(await service.callControl(`/purchases/${id}`)).toMatchObject({ quantity: 0 });
      const { body: again } = await service.validate(keys, validate);
      expect(again).toMatchObject({ ok: true, data: { collection: first.data.collection } });
      expect(again.data.transaction).toMatchObject({
        transactionId: first.data.transaction.transactionId,
        ...quantity,
      });
      const stranger = { ...validate, additionalData: { applicationUsername: createUniqueName('user') } };
      expect((await service.validate(keys, stranger)).body).toMatchObject({ ok: false });
      await service.callControl('/clock', { set: new Date(Date.now() + 4 * dayMs).toISOString() });
      const { validate: renewedKey } = await service.callControl(`/purchases/${id}`);
      expect((await service.validate(keys, renewedKey)).body).toMatchObject({ ok: false });
    },
  );
});
