import { describe, expect, it } from '@jest/globals';
import { parse } from '../../../../lib/foundation/parse.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { mergePartialRefunds } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { getProductRefunds } from '../../../../lib/stores/google-play/order-refunds.ts';
import { Order } from '../../../../lib/stores/google-play/payloads.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { createGoogleContext, createRequest, expiryTime, now, type SubscriptionResponse } from './fake-google.ts';

const voidedAt = now - dayMs;
const ids = {
  purchaseId: 'store_b:token-1',
  productId: 'store_b:premium',
  platform: 'store_b',
  sandbox: false,
} as const;
const subscription: SubscriptionResponse = {
  startTime: '2026-09-21T12:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  lineItems: [{ productId: 'premium', expiryTime, latestSuccessfulOrderId: 'GPA.1..1' }],
};
const purchase: Purchase = {
  ...ids,
  transactionId: 'store_b:GPA.1..1',
  productType: 'paid subscription',
  purchaseDate: Date.parse('2026-09-21T12:00:00Z'),
  expirationDate: now - 2 * dayMs,
};
const payment: Transaction = {
  ...ids,
  transactionId: 'store_b:GPA.1..0',
  purchaseDate: Date.parse('2026-10-21T12:00:00Z'),
  expirationDate: Date.parse('2026-11-21T12:00:00Z'),
  currency: 'EUR',
  amountMicros: 9_990_000,
};

/** Merges the observations in their order. */
const mergeAll = (...observations: readonly (Observation | undefined)[]): PurchaseState | undefined =>
  observations.reduce<PurchaseState | undefined>(
    (state, observation) => (observation ? merge(state, { ...observation, refreshToken: '' }) : state),
    undefined,
  );

/** Observes the notification of a voided order. `orderStatus` is the status of every response about orders. */
async function observeVoided({
  orderId = 'GPA.1..0',
  orderStatus = 404,
  subscriptionStatus = 200,
  transactions = [payment],
  isPartial = false,
  native = subscription,
  voidedPages = [{}] as readonly object[],
}) {
  const google = createGoogleContext({ subscription: native });
  const fetch: StoreContext['fetch'] = async (url, init) => {
    const respond = (status: number) => ({
      status,
      headers: {},
      text: JSON.stringify({ error: { errors: [{ reason: 'none' }] } }),
    });
    if (url.includes('/orders')) return respond(orderStatus);
    if (url.includes('/voidedpurchases')) {
      const page = Number(new URL(url).searchParams.get('token') ?? 0);
      const tokenPagination = page + 1 < voidedPages.length ? { nextPageToken: String(page + 1) } : {};
      return { ...respond(200), text: JSON.stringify({ ...voidedPages[page], tokenPagination }) };
    }
    return url.includes('/subscriptionsv2') && subscriptionStatus !== 200
      ? respond(subscriptionStatus)
      : await google.fetch(url, init);
  };
  const context = createGoogleContext(
    { subscription },
    {
      fetch,
      findPurchase: async (id) => (id === ids.purchaseId ? purchase : undefined),
      listTransactions: async (id) => (id === ids.purchaseId ? transactions : []),
    },
  );
  const payload = { token: 'token-1', kind: 'subscription', voidedOrderId: orderId, isPartial };
  const notification = { key: 'key', type: 'VOIDED_PURCHASE', occurredAt: voidedAt, payload };
  const result = await googlePlay.observe?.(notification, context);
  return result?.observations.find((observation) => observation.purchase.purchaseId === ids.purchaseId);
}

describe('voided order that Google Play does not return', () => {
  it.each([404, 403, 400])('marks the stored transaction of a past period (HTTP %i)', async (orderStatus) => {
    const observation = await observeVoided({ orderStatus });
    expect(observation).not.toHaveProperty('transactionsAsOf');
    expect(observation?.transactions).toEqual([{ ...payment, refundedAt: voidedAt }]);
    expect(observation?.purchase).not.toHaveProperty('endedAt');
  });

  it('adds a transaction without amount if none is stored', async () => {
    const observation = await observeVoided({ transactions: [] });
    expect(observation?.transactions).toEqual([
      { ...ids, transactionId: 'store_b:GPA.1..0', purchaseDate: purchase.purchaseDate, refundedAt: voidedAt },
    ]);
  });

  it('does not mark the order of a free trial, for which nothing was paid', async () => {
    const trial = { ...payment, amountMicros: 0, isTrialPeriod: true };
    const observation = await observeVoided({ transactions: [trial] });
    expect(observation?.transactions).toEqual([trial]);
  });

  it.each([404, 410])('marks the stored transaction if the token is missing (HTTP %i)', async (subscriptionStatus) => {
    const observation = await observeVoided({ subscriptionStatus });
    expect(observation).toMatchObject({ purchase, transactions: [{ ...payment, refundedAt: voidedAt }] });
  });

  const ended: SubscriptionResponse = {
    ...subscription,
    subscriptionState: 'SUBSCRIPTION_STATE_EXPIRED',
    canceledStateContext: { systemInitiatedCancellation: {} },
    lineItems: [
      { productId: 'premium', expiryTime: new Date(voidedAt).toISOString(), latestSuccessfulOrderId: 'GPA.1..1' },
    ],
  };
  const listed = { purchaseToken: 'token-1', orderId: 'GPA.1..1', voidedTimeMillis: String(voidedAt) };

  it('finds the reason on a later page of the list', async () => {
    const observation = await observeVoided({
      orderId: 'GPA.1..1',
      native: ended,
      voidedPages: [
        { voidedPurchases: [{ ...listed, orderId: 'GPA.9' }] },
        { voidedPurchases: [{ ...listed, voidedReason: 3 }] },
      ],
    });
    expect(mergeAll(observation)?.purchase.cancelationReason).toBe('Customer.TechnicalIssues');
  });

  it.each([
    ['the customer', { voidedSource: 0, voidedReason: 0 }, 'Customer.OtherReason'],
    ['the developer', { voidedSource: 1, voidedReason: 0 }, 'Developer'],
    ['the developer for an accidental purchase', { voidedSource: 1, voidedReason: 4 }, 'Customer.OtherReason'],
    ['Google', { voidedSource: 2, voidedReason: 0 }, 'System'],
    ['Google after a chargeback', { voidedSource: 2, voidedReason: 7 }, 'System'],
  ])('reports the reason of an order that was voided by %s, also in later queries', async (_case, voided, reason) => {
    const voidedPages = [{ voidedPurchases: [{ ...listed, ...voided }] }];
    const observation = await observeVoided({ orderId: 'GPA.1..1', native: ended, voidedPages });
    const query = (await googlePlay.validate(createRequest(), createGoogleContext({ subscription: ended })))
      .observations[0];
    for (const observations of [[observation], [observation, query], [query, observation]])
      expect(mergeAll(...observations)?.purchase.cancelationReason).toBe(reason);
  });

  it('keeps the reason of a voided one-time purchase in later queries', async () => {
    const product = {
      productLineItem: [{ productId: 'premium' }],
      purchaseStateContext: { purchaseState: 'CANCELLED' },
      purchaseCompletionTime: '2026-11-01T00:00:00Z',
      orderId: 'GPA.5',
    };
    const context = createGoogleContext({ product });
    const query = (await googlePlay.validate(createRequest('non consumable'), context)).observations[0];
    const voided = { ...purchase, transactionId: 'store_b:GPA.5' };
    const transaction = { ...payment, transactionId: 'store_b:GPA.5', voidReason: 'Developer' } as const;
    const observation: Observation = { asOf: voidedAt, purchase: voided, transactions: [transaction], userAliases: [] };
    expect(mergeAll(observation, query)?.purchase).toMatchObject({ cancelationReason: 'Developer' });
  });

  it.each(['VOIDED_PURCHASE', 'ONE_TIME_PRODUCT_CANCELED'])(
    'refunds a one-time purchase at the time of %s, also if a query saw its end before',
    async (type) => {
      const product = {
        productLineItem: [{ productId: 'premium' }],
        purchaseStateContext: { purchaseState: 'CANCELLED' },
        purchaseCompletionTime: '2026-11-01T00:00:00Z',
        orderId: 'GPA.5',
      };
      const paid = { ...payment, transactionId: 'store_b:GPA.5' };
      let state = mergeAll({
        asOf: 1,
        purchase: { ...ids, transactionId: paid.transactionId },
        transactions: [paid],
        userAliases: [],
      });
      const context = (seconds: number) =>
        createGoogleContext(
          { product },
          {
            now: () => now + seconds * 1000,
            findPurchase: async () => state?.purchase,
            listTransactions: async () => state?.transactions.map(({ transaction }) => transaction) ?? [],
          },
        );
      const query = async (seconds: number) =>
        (await googlePlay.validate(createRequest('non consumable'), context(seconds))).observations;
      const voidedOrderId = type === 'VOIDED_PURCHASE' ? { voidedOrderId: 'GPA.5' } : {};
      const payload = { token: 'token-1', kind: 'product', productId: 'premium', ...voidedOrderId };
      const notify = async () =>
        (await googlePlay.observe?.({ key: 'key', type, occurredAt: voidedAt, payload }, context(1)))?.observations ??
        [];
      for (const observe of [() => query(0), notify, () => query(2)]) {
        const observations = await observe();
        for (const { refreshToken: _token, ...observation } of observations) state = merge(state, observation);
      }
      expect(state?.purchase.endedAt).toBe(voidedAt);
      expect(state?.transactions.map(({ transaction }) => transaction.refundedAt)).toEqual([voidedAt]);
    },
  );

  it('waits for a retry while Google Play is unavailable or does not list the partial refund', async () => {
    await expect(observeVoided({ orderStatus: 503 })).rejects.toMatchObject({ code: 'ConnectionFailed' });
    await expect(observeVoided({ isPartial: true })).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});

describe('getProductRefunds', () => {
  const refund = (day: number, units: string, processedOn?: number) => ({
    createTime: `2026-11-0${day}T00:00:00Z`,
    ...(processedOn ? { processTime: `2026-11-0${processedOn}T00:00:00Z` } : {}),
    state: processedOn ? 'PROCESSED_SUCCESSFULLY' : 'PENDING',
    refundDetails: { total: { currencyCode: 'USD', units } },
  });
  const readOrder = (partialRefundEvents: object[], state: object = {}) =>
    getProductRefunds(parse(Order, { orderHistory: { partialRefundEvents }, ...state }), 'premium');
  const read = (...events: object[]) => readOrder(events).partialRefunds ?? [];

  it('has the last part as the full refund if the parts return the whole order', () => {
    const lastEventTime = '2026-11-02T00:00:00Z';
    const whole = { state: 'REFUNDED', total: { currencyCode: 'USD', units: '3' }, lastEventTime };
    expect(readOrder([refund(1, '1', 1), refund(2, '2', 2)], whole)).toMatchObject({
      refundedAt: Date.parse(lastEventTime),
      partialRefunds: [{ id: '1', amountMicros: 1_000_000 }],
    });
  });

  it('counts each refund once if an earlier one was pending until it was processed', () => {
    const before = read(refund(1, '1'), refund(2, '2', 2));
    const after = read(refund(1, '1', 3), refund(2, '2', 2));
    expect(after.map(({ amountMicros }) => amountMicros)).toEqual([2_000_000, 1_000_000]);
    expect(mergePartialRefunds(before, after)).toEqual(after);
  });
});
