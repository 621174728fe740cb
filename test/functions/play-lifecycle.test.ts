import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sortForRelease } from '../../emulator/release-order.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { isActive } from '../../lib/purchases/purchase.ts';
import { findPurchase, findPurchaseFacts, listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { listRefundedAmounts } from '../../lib/purchases/refunds.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);
let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await fixture.createNotifiedApp('store_b');
});
afterEach(async () => {
  await setOrdersReadable(true);
  await fixture.clearFaults();
});

/** Sets whether Google Play returns orders, which requires its own permission. */
const setOrdersReadable = async (readable: boolean) => {
  const init = { method: 'PUT', body: JSON.stringify({ readable }) };
  expect((await fetch(`${fixture.emulatorUrl}/control/orders/store_b`, init)).status).toBe(200);
};

const advance = async (ms: number) =>
  await fixture.callControl('/clock', { set: new Date(Date.now() + ms).toISOString() });

/** Buys and validates a product. */
async function buy(order: object = {}) {
  const { id, validate } = await fixture.callControl('/purchases', {
    platform: 'store_b',
    productId: createUniqueName('product'),
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
    acknowledged: true,
    ...order,
  });
  expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
  await fixture.processNotifications();
  const purchaseId = `store_b:${id}`;
  return {
    id,
    purchaseId,
    validate: async () => (await fixture.validate(keys, validate)).body,
    refresh: async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId }),
    /** Performs an action and processes its notifications. Returns the id of the resulting purchase. */
    act: async (action: string, details: object = {}) => {
      const result = await fixture.callControl(`/purchases/${id}/${action}`, details);
      await fixture.processNotifications();
      return `store_b:${result.id}`;
    },
    read: async () => await fixture.fetchPurchase(keys, purchaseId),
    readReason: async () => (await fixture.fetchPurchase(keys, purchaseId)).cancelationReason,
    reasons: async () => listReasons(await fixture.fetchPurchase(keys, purchaseId)),
    /** Lists the transactions, the earliest first. */
    listTransactions: async () => {
      const transactions = await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]);
      return [...transactions].sort((a, b) => a.purchaseDate - b.purchaseDate);
    },
  };
}

/** Buys a product whose payment is pending, which the client validates, then closes the app. */
async function buyPending(order: object = {}) {
  const { id, validate } = await fixture.callControl('/purchases', {
    platform: 'store_b',
    productId: createUniqueName('product'),
    type: 'non consumable',
    applicationUsername: createUniqueName('user'),
    pending: true,
    ...order,
  });
  expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: false });
  const act = async (action: string) => {
    await fixture.callControl(`/purchases/${id}/${action}`, {});
    await fixture.processNotifications();
  };
  return { purchaseId: `store_b:${id}`, act };
}

/** The notifications of a revocation, in the order of the emulator. */
const revocationTypes = ['REVOKED', 'VOIDED', 'EXPIRED'] as const;

/** Seeds of the emulator that release the three notifications in each order. */
const orderSeeds = [1, 2, 3, 4, 7, 10];
const sortNotifications = (seed: number) => sortForRelease(revocationTypes, { order: 'shuffled', seed });
const namedSeeds = orderSeeds.map((seed) => [sortNotifications(seed).join(', '), seed] as const);

/** If the order is not readable, the first notification decides the reason. The refund belongs to the revocation. */
const reasonsOfUnreadableOrder = { REVOKED: ['REVOKED'], VOIDED: ['REVOKED'], EXPIRED: ['EXPIRED'] } as const;

/** Revokes a purchase and processes the notifications, in an order that depends on the seed. */
async function revoke(id: string, seed: number, prepare?: () => Promise<unknown>): Promise<void> {
  await fixture.callControl('/notifications', { platform: 'store_b', held: true });
  await fixture.callControl(`/purchases/${id}/revoke`, {});
  await prepare?.();
  await fixture.callControl('/notifications/release', { platform: 'store_b', order: 'shuffled', seed });
  await fetch(`${fixture.emulatorUrl}/control/notifications`, { method: 'DELETE' });
  await fixture.waitUntilNotified();
  while (await fixture.queues.handleOnce('notifications', 1)) {}
}

describe('refunds of Google Play', () => {
  it('covers each order of the notifications of a revocation', () => {
    expect(new Set(orderSeeds.map((seed) => sortNotifications(seed).join())).size).toBe(6);
  });

  it.each(sampleItems(namedSeeds, 2))(
    'announces the end and the refund of a revocation once (%s)',
    async (_order, seed) => {
      const [first = 'REVOKED'] = sortNotifications(seed);
      for (const readable of [true, false]) {
        const { id, reasons, refresh, listTransactions, readReason } = await buy();
        await setOrdersReadable(readable);
        await revoke(id, seed);
        const announced = ['PURCHASED', ...(readable ? ['REVOKED'] : reasonsOfUnreadableOrder[first])];
        expect(await reasons()).toEqual(announced);
        expect(await readReason()).toBe('Developer');
        expect(await listTransactions()).toMatchObject([{ refundedAt: expect.any(Number), amountMicros: 4_990_000 }]);
        await setOrdersReadable(true);
        await refresh();
        expect(await readReason()).toBe('Developer');
        expect(await listTransactions()).toMatchObject([{ refundedAt: expect.any(Number), amountMicros: 4_990_000 }]);
        expect(await reasons()).toEqual(announced);
      }
    },
  );

  it.each(sampleItems(namedSeeds, 2, 'trial'))(
    'announces the revocation of a free trial once, even if a refresh finds it (%s)',
    async (_order, seed) => {
      for (const readable of [true, false]) {
        for (const isRefreshed of [true, false]) {
          const { id, reasons, refresh } = await buy({ trial: true });
          await setOrdersReadable(readable);
          await revoke(id, seed, isRefreshed ? refresh : undefined);
          expect(await reasons()).toEqual(['PURCHASED', 'REVOKED']);
          await setOrdersReadable(true);
          await refresh();
          expect(await reasons()).toEqual(['PURCHASED', 'REVOKED']);
        }
      }
    },
  );

  it.each([true, false])('announces each partial refund of a quantity once (orders readable: %s)', async (readable) => {
    const { act, read, reasons, validate, listTransactions } = await buy({ type: 'consumable', quantity: 5 });
    await setOrdersReadable(readable);
    await act('refund', { quantity: 1 });
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED']);
    await act('refund', { quantity: 2 });
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED', 'REFUNDED']);
    expect(await read()).not.toHaveProperty('isExpired');
    await setOrdersReadable(true);
    expect(await validate()).toMatchObject({ ok: true });
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED', 'REFUNDED']);
    const [transaction] = await listTransactions();
    expect(transaction).not.toHaveProperty('refundedAt');
    expect(transaction?.partialRefunds).toMatchObject([{ amountMicros: 4_990_000 }, { amountMicros: 9_980_000 }]);
  });

  it.each(['paid subscription', 'non consumable'])('announces a partial refund of an amount (%s)', async (type) => {
    const { act, read, validate, reasons, listTransactions } = await buy({ type });
    await act('refund', { amountMicros: 1_000_000 });
    expect(await validate()).toMatchObject({ ok: true });
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED']);
    expect(await listTransactions()).toMatchObject([{ partialRefunds: [{ amountMicros: 1_000_000 }] }]);
    expect((await read()).isExpired).not.toBe(true);
  });
});

describe('plan changes of Google Play', () => {
  it('announces a change of the base plan as PLAN_CHANGED', async () => {
    const { act, reasons } = await buy();
    const successorId = await act('change-plan', { period: 'P1Y', priceMicros: 49_990_000 });
    expect(listReasons(await fixture.fetchPurchase(keys, successorId))).toEqual(['PLAN_CHANGED']);
    expect(await reasons()).toEqual(['PURCHASED']);
  });
});

describe('renewal of Google Play without a readable order', () => {
  it('starts with the recovery after account hold', async () => {
    const { act, refresh, listTransactions } = await buy();
    await setOrdersReadable(false);
    const [first] = await listTransactions();
    await advance(31 * dayMs);
    await act('fail-payment');
    expect(await listTransactions()).toEqual([first]);
    await act('fail-payment');
    await refresh();
    expect(await listTransactions()).toEqual([first]);
    await advance(5 * dayMs);
    const recoveredAt = Date.now();
    await act('recover');
    const transactions = await listTransactions();
    expect(transactions).toHaveLength(2);
    expect(transactions[0]).toEqual(first);
    expect(Math.abs((transactions[1]?.purchaseDate ?? 0) - recoveredAt)).toBeLessThan(60_000);
    await advance(dayMs);
    await refresh();
    expect(await listTransactions()).toEqual(transactions);
  });
});

describe('states of Google Play', () => {
  it('ends a subscription that Google Play deleted before its expiration', async () => {
    const [refreshed, validated] = [await buy(), await buy()];
    await refreshed.act('delete');
    await refreshed.refresh();
    expect(await refreshed.read()).toMatchObject({ isExpired: true, cancelationReason: 'System.Deleted' });
    expect(await refreshed.reasons()).toEqual(['PURCHASED', 'EXPIRED']);
    await validated.act('delete');
    expect(await validated.validate()).toMatchObject({ ok: false, code: 6778003 });
    expect(await validated.read()).toMatchObject({ isExpired: true, cancelationReason: 'System.Deleted' });
    expect(await validated.reasons()).toEqual(['PURCHASED', 'EXPIRED']);
  });

  it('ends a subscription after account hold with System.BillingError', async () => {
    const { act, read, refresh } = await buy();
    await act('fail-payment', { grace: false });
    await act('expire');
    expect(await read()).toMatchObject({ isExpired: true, cancelationReason: 'System.BillingError' });
    await refresh();
    expect(await read()).toMatchObject({ cancelationReason: 'System.BillingError' });
  });

  it.each([true, false])(
    'ends a revoked subscription with the reason of the revocation after a failed payment (grace period: %s)',
    async (grace) => {
      const observed = await buy();
      await observed.act('fail-payment', { grace });
      await observed.act('revoke');
      const unobserved = await buy();
      await fixture.callControl(`/purchases/${unobserved.id}/fail-payment`, { grace });
      await unobserved.act('revoke');
      const reasons = [await observed.read(), await unobserved.read()].map((purchase) => purchase.cancelationReason);
      expect(reasons).toEqual(['Developer', 'Developer']);
    },
  );

  it('dates a restarted renewal by its notification', async () => {
    const { act, read } = await buy();
    await act('cancel');
    const { renewalIntentChangeDate: canceledAt } = await read();
    await advance(dayMs);
    await act('uncancel');
    const { renewalIntent, renewalIntentChangeDate: restartedAt } = await read();
    expect(renewalIntent).toBe('Renew');
    expect(Date.parse(restartedAt) - Date.parse(canceledAt)).toBeGreaterThan(dayMs / 2);
  });
});

describe('acknowledgement at Google Play', () => {
  const useApp = async (changes: object) => {
    keys = await fixture.createNotifiedApp('store_b', changes);
  };
  beforeAll(async () => await useApp({ acknowledge: true }));
  /** Returns the purchase in the API 17 days later, and whether the store has refunded it. */
  const readLater = async (purchaseId: string) => {
    await advance(17 * dayMs);
    await fixture.processNotifications();
    const id = purchaseId.replace('store_b:', '');
    const { isAcknowledged, refundedMicros } = await fixture.callControl(`/purchases/${id}`);
    const { entitledUsers, isExpired } = await fixture.fetchPurchase(keys, purchaseId);
    return { isAcknowledged, refundedMicros, entitledUsers, isExpired };
  };
  const paidAndOwned = {
    isAcknowledged: true,
    refundedMicros: 0,
    entitledUsers: [expect.any(String)],
    isExpired: false,
  };

  it('follows a payment in cash that only a notification reports', async () => {
    const { act, purchaseId } = await buyPending();
    await act('pay');
    expect(await readLater(purchaseId)).toEqual({ ...paidAndOwned, isExpired: undefined });
  });

  it('follows a resubscription in the Play Store app after its customer is known', async () => {
    const { act, refresh } = await buy({ period: 'P1W' });
    await act('expire');
    await refresh();
    const successorId = await act('resubscribe');
    expect(await fixture.fetchPurchase(keys, successorId)).toMatchObject({ isAcknowledged: true });
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId: successorId });
    expect(await fixture.fetchPurchase(keys, successorId)).toMatchObject({ entitledUsers: [expect.any(String)] });
  });

  it('follows a plan change without a validation', async () => {
    const { act } = await buy({ acknowledged: false });
    const successorId = await act('change-plan', { period: 'P1Y' });
    expect(await readLater(successorId)).toEqual(paidAndOwned);
  });

  it.each(['paid subscription', 'non consumable'])('repeats until Google Play is available (%s)', async (type) => {
    const { act, purchaseId } = await buyPending({ type });
    await fixture.callControl('/faults', { platform: 'store_b', fault: 'down', times: 20, path: ':acknowledge' });
    await act('pay');
    expect(await fixture.fetchPurchase(keys, purchaseId)).toMatchObject({
      isAcknowledged: false,
      entitledUsers: [expect.any(String)],
    });
    await fixture.clearFaults();
    const { nextRefreshAt = 0 } = (await findPurchaseFacts(getService(), keys.appName, purchaseId)) ?? {};
    expect(nextRefreshAt - Date.now()).toBeLessThan(hourMs);
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    expect(await fixture.fetchPurchase(keys, purchaseId)).toMatchObject({ isAcknowledged: true });
  });

  it('ends a purchase that is not acknowledged, with a refund', async () => {
    await useApp({});
    const { purchaseId, reasons } = await buy({ acknowledged: false });
    expect(await readLater(purchaseId)).toMatchObject({
      isAcknowledged: false,
      refundedMicros: 4_990_000,
      isExpired: true,
    });
    expect(await reasons()).toEqual(['PURCHASED', 'REVOKED']);
  });
});

describe('subscription with add-ons of Google Play', () => {
  beforeAll(async () => {
    keys = await fixture.createNotifiedApp('store_b');
  });
  const priceMicros = 10_000_000;
  const buyWithAddOn = async () => {
    const [productId, addOnId] = [createUniqueName('z-base'), createUniqueName('addon')];
    const purchase = await buy({ productId, priceMicros, addOns: [{ productId: addOnId, priceMicros: 5_000_000 }] });
    return { ...purchase, productId, addOnId };
  };
  /** Lists the purchases of the customer of a token by product, with the amounts of their payments and refunds. */
  const readItems = async (id: string, productIds: readonly string[]) => {
    const items = await Promise.all(
      [`store_b:${id}`, ...productIds.map((productId) => `store_b:${id}:${productId}`)].map(async (purchaseId) => {
        const stored = await findPurchase(getService(), keys.appName, purchaseId);
        if (!stored) return [];
        const transactions = await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]);
        const summary = {
          isOwned: stored.entitledUsers.length > 0 && isActive(stored.purchase, Date.now()),
          renewalIntent: stored.purchase.renewalIntent,
          cancelationReason: stored.purchase.cancelationReason,
          paid: transactions.flatMap(({ amountMicros }) => (amountMicros ? [amountMicros / 1_000_000] : [])),
          refunded: transactions.flatMap((transaction) =>
            listRefundedAmounts(transaction).map(({ amountMicros = 0 }) => amountMicros / 1_000_000),
          ),
        };
        return [[stored.purchase.productId.replace('store_b:', ''), summary] as const];
      }),
    );
    return new Map(items.flat());
  };
  const running = { isOwned: true, renewalIntent: 'Renew', refunded: [] };

  it('counts each item with its own line of every order', async () => {
    const { id, act, productId, addOnId } = await buyWithAddOn();
    await advance(31 * dayMs);
    await act('renew');
    const items = await readItems(id, [productId, addOnId]);
    expect(items.get(productId)).toMatchObject({ ...running, paid: [10, 10] });
    expect(items.get(addOnId)).toMatchObject({ ...running, paid: [5, 5] });
    expect(items.size).toBe(2);
  });

  it('keeps a removed item until its end, and counts the payments of the replaced purchase once', async () => {
    const { id, act, productId, addOnId } = await buyWithAddOn();
    const successor = (await act('remove-item', { productId: addOnId })).replace('store_b:', '');
    const removed = await readItems(successor, [productId, addOnId]);
    expect(removed.get(productId)).toMatchObject({ ...running, paid: [] });
    expect(removed.get(addOnId)).toMatchObject({ isOwned: true, renewalIntent: 'Lapse', paid: [] });
    await advance(31 * dayMs);
    await fixture.callControl(`/purchases/${successor}/renew`, {});
    await fixture.processNotifications();
    const renewed = await readItems(successor, [productId, addOnId]);
    expect(renewed.get(productId)).toMatchObject({ ...running, paid: [10] });
    expect(renewed.get(addOnId)).toMatchObject({ isOwned: false });
    const replaced = await readItems(id, [productId, addOnId]);
    expect([...replaced.values()].map(({ isOwned, paid }) => ({ isOwned, paid }))).toEqual(
      expect.arrayContaining([
        { isOwned: false, paid: [10] },
        { isOwned: false, paid: [5] },
      ]),
    );
  });

  it('gives an added item to the customer of the others', async () => {
    const { act, id } = await buy({ priceMicros });
    const addOnId = createUniqueName('addon');
    const successor = (await act('add-item', { productId: addOnId, priceMicros: 5_000_000 })).replace('store_b:', '');
    const { productId } = await fixture.callControl(`/purchases/${id}`);
    const items = await readItems(successor, [productId, addOnId]);
    expect(items.get(addOnId)).toMatchObject({ ...running, paid: [5] });
    expect(items.get(productId)).toMatchObject({ ...running, paid: [] });
  });

  it('counts the order of an added item for this item only, after the renewal of all items', async () => {
    const [productId, addOnId] = [createUniqueName('base'), createUniqueName('z-addon')];
    const { act } = await buy({ productId, priceMicros });
    const successor = (await act('add-item', { productId: addOnId, priceMicros: 5_000_000 })).replace('store_b:', '');
    await advance(31 * dayMs);
    await fixture.callControl(`/purchases/${successor}/renew`, {});
    await fixture.processNotifications();
    const items = await readItems(successor, [productId, addOnId]);
    expect(items.get(addOnId)).toMatchObject({ ...running, paid: [5, 5] });
    expect(items.get(productId)).toMatchObject({ ...running, paid: [10] });
  });

  it('ends a revoked item alone and counts its refund once', async () => {
    const { id, act, productId, addOnId } = await buyWithAddOn();
    await act('revoke-item', { productId: addOnId });
    const items = await readItems(id, [productId, addOnId]);
    expect(items.get(productId)).toMatchObject({ ...running, paid: [10] });
    expect(items.get(addOnId)).toMatchObject({ isOwned: false, paid: [5], refunded: [5] });
  });

  it('splits a partial refund of an amount between the items', async () => {
    const { id, act, validate, productId, addOnId } = await buyWithAddOn();
    await act('refund', { amountMicros: 3_000_000 });
    await validate();
    const items = await readItems(id, [productId, addOnId]);
    expect([items.get(productId)?.refunded, items.get(addOnId)?.refunded]).toEqual([[2], [1]]);
  });

  it('refunds and ends all items with the purchase', async () => {
    const { id, act, productId, addOnId } = await buyWithAddOn();
    await act('revoke');
    const items = await readItems(id, [productId, addOnId]);
    expect(items.get(productId)).toMatchObject({ isOwned: false, refunded: [10] });
    expect(items.get(addOnId)).toMatchObject({ isOwned: false, refunded: [5] });
  });

  it('ends only the declined item after account hold', async () => {
    const { id, act, productId, addOnId } = await buyWithAddOn();
    const isOwned = async () => {
      const items = await readItems(id, [productId, addOnId]);
      return [items.get(productId)?.isOwned, items.get(addOnId)?.isOwned];
    };
    await act('fail-payment', { productId: addOnId });
    expect(await isOwned()).toEqual([true, true]);
    await act('fail-payment');
    expect(await isOwned()).toEqual([false, false]);
    await advance(2 * dayMs);
    await act('expire');
    const items = await readItems(id, [productId, addOnId]);
    expect(items.get(productId)).toMatchObject({ isOwned: true, renewalIntent: 'Lapse', cancelationReason: undefined });
    expect(items.get(addOnId)).toMatchObject({ isOwned: false, cancelationReason: 'System.BillingError', paid: [5] });
  });
});

describe('declined renewal of Google Play', () => {
  it('records the pending order when it is paid, and the paid order until then', async () => {
    const { id, act, read, listTransactions } = await buy();
    const readOrders = async () => await fixture.callControl(`/purchases/${id}`);
    const { latestSuccessfulOrderId: paidId } = await readOrders();
    await act('fail-payment');
    const { state, latestOrderId: pendingId } = await readOrders();
    expect([state, pendingId === paidId]).toEqual(['IN_GRACE_PERIOD', false]);
    expect(await read()).toMatchObject({ transactionId: `store_b:${paidId}`, isBillingRetryPeriod: true });
    await fixture.callControl('/clock', { advance: 'P40D' });
    await fixture.processNotifications();
    expect((await readOrders()).state).toBe('ON_HOLD');
    expect(await read()).toMatchObject({ transactionId: `store_b:${paidId}`, isExpired: true });
    expect(await listTransactions()).toHaveLength(1);
    await act('recover');
    expect(await read()).toMatchObject({ transactionId: `store_b:${pendingId}`, isExpired: false });
    expect((await listTransactions()).map(({ transactionId }) => transactionId)).toEqual([
      `store_b:${paidId}`,
      `store_b:${pendingId}`,
    ]);
  });
});

describe('rental and prepaid plan of Google Play', () => {
  it('ends a rental after its period', async () => {
    const { read, validate, reasons, refresh } = await buy({ type: 'non consumable', rentalPeriod: 'P2D' });
    expect(await read()).toMatchObject({ isExpired: false });
    await advance(2 * dayMs + hourMs);
    expect(await validate()).toMatchObject({ ok: false, code: 6778003 });
    await refresh();
    expect(await reasons()).toEqual(['PURCHASED', 'EXPIRED']);
  });

  it('ends a prepaid plan after its period, which a top-up extends', async () => {
    const { act, read } = await buy({ prepaid: true, period: 'P1W' });
    expect(await read()).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    const successorId = await act('top-up');
    expect(await read()).toMatchObject({ isExpired: true, cancelationReason: 'System.Replaced' });
    await advance(10 * dayMs);
    const { entitledUsers, isExpired } = await fixture.fetchPurchase(keys, successorId);
    expect({ entitledUsers, isExpired }).toEqual({ entitledUsers: [expect.any(String)], isExpired: false });
    await advance(5 * dayMs);
    expect(await fixture.fetchPurchase(keys, successorId)).toMatchObject({ isExpired: true });
  });
});
