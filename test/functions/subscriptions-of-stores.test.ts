import { describe, expect, it } from '@jest/globals';
import { addPeriod } from '../../emulator/calendar.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { type BreakdownGroup, getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { type DailyStat, getStats } from '../../lib/statistics/contract.ts';
import { getMrr } from '../../lib/statistics/mrr-contract.ts';
import { buyValidated } from '../../testing/buy-validated.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

const orders = {
  subscription: { type: 'paid subscription' },
  'one-time purchase': { type: 'non consumable' },
} as const;

/** Buys a subscription and a one-time purchase, in production and in the sandbox. Renews, ends and refunds them. */
async function givenHistories(platform: Platform, productIds: readonly [subscription: string, oneTime: string]) {
  const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
  const sales = Object.values(orders).flatMap(({ type }, position) =>
    [false, true].map((sandbox) => ({ platform, type, productId: productIds[position], sandbox })),
  );
  for (const sale of sales) {
    const { act, purchaseId } = await buyValidated(fixture, keys, sale);
    const actions = sale.type === orders.subscription.type ? ['renew', 'cancel', 'expire'] : ['refund'];
    for (const action of actions) {
      await act(action);
      await fixture.processNotifications();
      await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    }
    await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
  }
  return keys;
}

const products = [
  ['store_a', 'premium', 'full'],
  ['store_b', 'premium', 'full'],
  ['store_c', 'premium', 'full'],
  ['processor_a', 'premium', 'full'],
  ['service_processor_a', 'premium', 'full'],
  ['processor_b', 'monthly', 'full_version'],
] as const;

describe('reasons of GET /v3/stats/breakdown', () => {
  it.each(sampleItems(products, 2))(
    'counts New, Renewed and Lost of %s without the sandbox and one-time purchases',
    async (platform, subscriptionId, oneTimeId) => {
      const keys = await givenHistories(platform, [subscriptionId, oneTimeId]);
      const [startdate, enddate] = [-1, 1].map((days) => toUtcDay(getService().now() + days * dayMs)) as [
        string,
        string,
      ];
      const readReasons = async (sandbox: boolean) => {
        const query = { startdate, enddate, interval: 'range', sandbox: String(sandbox) };
        const { groups } = (await callWithSecretKey(getStatsBreakdown, keys, { query })).body;
        return groups.map(({ rows }: BreakdownGroup) => rows[0]?.subscriptionNotifications);
      };
      // The emulated merchant of Braintree is in the sandbox, with both subscriptions.
      const [production, sandbox] = platform === 'processor_b' ? [0, 2] : [1, 1];
      const toReasons = (count: number) => ({ PURCHASED: count, RENEWED: count, EXPIRED: count, REFUNDED: 0 });
      expect(await readReasons(false)).toMatchObject([toReasons(production)]);
      expect(await readReasons(true)).toMatchObject([toReasons(sandbox)]);
    },
  );
});

const euros = { currency: 'EUR', priceMicros: 10_000_000 };
const dollars = { currency: 'USD', priceMicros: 12_000_000 };

/** Buys a subscription for euros, which renews for dollars. */
async function givenChangedCurrency(platform: Platform) {
  const order = { platform, productId: 'converted', type: 'paid subscription', ...euros };
  const { id, validate } = await fixture.callControl('/purchases', {
    ...order,
    applicationUsername: createUniqueName('user'),
  });
  // The catalogue of Braintree in its settings has the product only now.
  const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
  const { body } = await fixture.validate(keys, validate);
  if (!body.ok) throw new Error(body.message);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const renewsAt = addPeriod(getService().now(), 'P1M') - hourMs;
  await fixture.callControl('/clock', { set: new Date(renewsAt).toISOString() });
  await fixture.callControl(`/purchases/${id}/renew`, platform === 'store_c' ? {} : dollars);
  await fixture.processNotifications();
  await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
  // Only the client of the Microsoft Store reports the price.
  if (platform === 'store_c') {
    const { validate: current } = await fixture.callControl(`/purchases/${id}`);
    await fixture.validate(keys, { ...current, ...dollars });
  }
  await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
  // Figures end today, in the second period.
  await fixture.callControl('/clock', { advance: 'P20D' });
  return keys;
}

/** Stripe does not change the currency of a subscription. */
describe('subscription whose currency changes at a renewal', () => {
  it.each(sampleItems(['store_a', 'store_b', 'store_c', 'processor_b'] as const, 2))(
    'counts each payment of %s in its currency, and the difference as a movement of the recurring revenue',
    async (platform) => {
      const keys = await givenChangedCurrency(platform);
      const { rows } = (await callWithSecretKey(listTransactions, keys, { query: {} })).body;
      const [first, second] = rows;
      expect(first).toMatchObject({ currency: 'EUR', amountMicros: 10_000_000, amountUSD: expect.any(Number) });
      expect(second).toMatchObject({ currency: 'USD', amountMicros: 12_000_000, amountUSD: 12 });
      expect(rows).toHaveLength(2);
      const [startdate, enddate] = [-60, 0].map((days) => toUtcDay(getService().now() + days * dayMs)) as [
        string,
        string,
      ];
      const query = { startdate, enddate, sandbox: String(platform === 'processor_b') };
      const days: readonly DailyStat[] = (await callWithSecretKey(getStats, keys, { query })).body.dailyStats;
      const sumDays = (read: (day: DailyStat) => number) => days.reduce((sum, day) => sum + read(day), 0);
      expect({
        euros: sumDays(({ amountMicros }) => amountMicros.EUR ?? 0),
        dollars: sumDays(({ amountMicros }) => amountMicros.USD ?? 0),
        amountUSD: sumDays(({ amountUSD }) => amountUSD),
      }).toEqual({ euros: 10_000_000, dollars: 12_000_000, amountUSD: expect.closeTo(first.amountUSD + 12, 6) });
      const options = { ...query, interval: 'range', amount: 'before_refunds' };
      const { body } = await callWithSecretKey(getMrr, keys, { query: options });
      const change = 12 - first.amountUSD;
      expect(body.rows).toMatchObject([
        {
          mrrUSD: 12,
          movement: {
            new: expect.closeTo(first.amountUSD, 6),
            expansion: expect.closeTo(Math.max(0, change), 6),
            contraction: expect.closeTo(Math.max(0, -change), 6),
            churned: 0,
          },
        },
      ]);
    },
  );
});

const charges = [
  ['store_a', 'premium', 'late'],
  ['store_b', 'premium', 'late'],
  ['store_b', 'premium', 'early'],
  ['store_c', 'premium', 'late'],
  ['processor_a', 'premium', 'late'],
  ['processor_b', 'monthly', 'late'],
] as const;

describe('GET /v3/stats/mrr', () => {
  it.each(sampleItems(charges, 2))(
    'counts the price of the period for %s (%s) if it is charged %s',
    async (platform, productId, time) => {
      const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
      const order = { platform, type: 'paid subscription', productId };
      const { act, purchaseId } = await buyValidated(fixture, keys, order);
      const steps = time === 'late' ? ['P15D', 'P15D', 'fail-payment', 'P5D', 'recover'] : ['P27D', 'renew'];
      for (const step of steps) {
        if (step.startsWith('P')) await fixture.callControl('/clock', { advance: step });
        else await act(step);
        await fixture.processNotifications();
        await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
      }
      await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
      const today = toUtcDay(getService().now());
      const query = { startdate: today, enddate: today, sandbox: String(platform === 'processor_b') };
      const { rows } = (await callWithSecretKey(getMrr, keys, { query })).body;
      expect(rows).toMatchObject([{ mrrUSD: platform === 'processor_b' ? 9.99 : 4.99 }]);
    },
  );
});

/** Orders with committed monthly payments, and the number of others. */
const plans = [
  ['store_a', { commitment: true }, 11],
  ['store_b', { installments: 3 }, 2],
] as const satisfies readonly (readonly [Platform, object, number])[];
const month = { advance: 'P1M' };

/** Buys and validates a plan whose payments the store collects on time. */
async function givenPlan(platform: Platform, order: object) {
  const keys = await fixture.createNotifiedApp(platform);
  const { id, validate } = await fixture.callControl('/purchases', {
    ...{ platform, productId: createUniqueName('plan'), type: 'paid subscription', period: 'P1M' },
    ...{ applicationUsername: createUniqueName('user'), autoRenew: true, acknowledged: true, ...order },
  });
  await fixture.validate(keys, validate);
  const purchaseId = `${platform}:${id}`;
  const fetchPurchase = async () => await fixture.fetchPurchase(keys, purchaseId);
  const perform = async (path: string, body: object = {}) => {
    await fixture.callControl(path, body);
    await fixture.processNotifications();
    return await fetchPurchase();
  };
  return {
    perform,
    fetchPurchase,
    act: async (action: string) => await perform(`/purchases/${id}/${action}`),
    refresh: async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId }),
    listPayments: async () => await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]),
  };
}

describe.each(plans)('canceled plan with committed payments (%s)', (platform, order, further) => {
  it('renews and gives access until the commitment ends, with one announcement of the lapse', async () => {
    const { act, perform, listPayments } = await givenPlan(platform, order);
    expect(await act('cancel')).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    for (let paid = 0; paid < further; paid++)
      expect(await perform('/clock', month)).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    const ended = await perform('/clock', month);
    expect(ended).toMatchObject({ isExpired: true, cancelationReason: 'Customer' });
    expect(listReasons(ended)).toEqual(['PURCHASED', 'WILL_LAPSE', ...Array(further).fill('RENEWED'), 'EXPIRED']);
    expect(await listPayments()).toHaveLength(1 + further);
  });

  it('renews after the commitment if the cancelation is withdrawn', async () => {
    const { act, perform } = await givenPlan(platform, order);
    await act('cancel');
    expect(await act('uncancel')).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
    for (let paid = 0; paid <= further; paid++) await perform('/clock', month);
    expect(await perform('/clock', month)).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
  });

  it('keeps access during an outage of the store at a committed payment', async () => {
    const { act, refresh, fetchPurchase } = await givenPlan(platform, order);
    await act('cancel');
    await fixture.setNotificationUrl(platform, null);
    await fixture.callControl('/clock', month);
    await fixture.callControl('/faults', { platform, fault: 'down', times: 100 });
    await refresh();
    expect(await fetchPurchase()).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    await fixture.clearFaults();
    await refresh();
    expect(listReasons(await fetchPurchase())).toEqual(['PURCHASED', 'WILL_LAPSE', 'RENEWED']);
  });
});

/** Replaces the key with one that the store rejects, like the key of the former account. */
// biome-ignore lint/suspicious/noExplicitAny: each store has other settings.
const withFormerKey = (platform: 'store_a' | 'store_b', settings: any): object =>
  platform === 'store_a'
    ? { ...settings, keyId: 'FORMER1234' }
    : { ...settings, serviceAccount: { ...settings.serviceAccount, client_email: 'former@example.com' } };

it.each(['store_a', 'store_b'] as const)(
  'keeps access of an app that moved to another developer account until the app has new credentials (%s)',
  async (platform) => {
    const keys = await fixture.createNotifiedApp(platform);
    const { id, validate } = await fixture.callControl('/purchases', {
      ...{ platform, productId: createUniqueName('plan'), type: 'paid subscription', period: 'P1M' },
      ...{ applicationUsername: createUniqueName('user'), autoRenew: true, acknowledged: true },
    });
    await fixture.validate(keys, validate);
    const purchaseId = `${platform}:${id}`;
    const refresh = async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const settings = await fixture.callControl(`/settings/${platform}`);
    await setStoreSettings(getService(), keys.appName, platform, withFormerKey(platform, settings));
    await fixture.setNotificationUrl(platform, null);
    await fixture.callControl('/clock', { advance: 'P1M' });
    expect(await refresh()).toBe(false);
    expect(await fixture.fetchPurchase(keys, purchaseId)).toMatchObject({ isExpired: false });
    await setStoreSettings(getService(), keys.appName, platform, settings);
    // Settings are cached for seconds.
    await fixture.callControl('/clock', { advance: 'PT1M' });
    expect(await refresh()).toBe(true);
    const moved = await fixture.fetchPurchase(keys, purchaseId);
    expect(moved).toMatchObject({ purchaseId, isExpired: false, renewalIntent: 'Renew' });
    expect(listReasons(moved)).toEqual(['PURCHASED', 'RENEWED']);
  },
);
