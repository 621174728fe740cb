import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs, hourMs, minuteMs } from '../../../../lib/foundation/time.ts';
import { findLifecycleReasons } from '../../../../lib/purchases/lifecycle-reasons.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { sampleRuns } from '../../../../testing/sample.ts';
import { createGoogleContext, type OrderResponse, type SubscriptionResponse } from './fake-google.ts';

const periodMs = 30 * dayMs;
const startTime = Date.parse('2026-01-01T00:00:00Z');
const toText = (time: number) => new Date(time).toISOString();

/** What happens in a period: a query, or the notification of its payment, after some hours; or nothing. */
const Look = fc.record({
  kind: fc.constantFrom('refresh' as const, 'notification' as const, 'none' as const),
  afterMs: fc.integer({ min: 0, max: periodMs - 1 }),
  isInGracePeriod: fc.boolean(),
});

function buildSubscription(period: number, isInGracePeriod: boolean): SubscriptionResponse {
  const end = startTime + (period + 1) * periodMs;
  return {
    startTime: toText(startTime),
    subscriptionState: isInGracePeriod ? 'SUBSCRIPTION_STATE_IN_GRACE_PERIOD' : 'SUBSCRIPTION_STATE_ACTIVE',
    lineItems: [
      {
        productId: 'premium',
        expiryTime: toText(isInGracePeriod ? end + 7 * dayMs : end),
        latestSuccessfulOrderId: period === 0 ? 'GPA.1' : `GPA.1..${period - 1}`,
        autoRenewingPlan: { autoRenewEnabled: true },
      },
    ],
  };
}

interface QueryCase {
  readonly period: number;
  readonly now: number;
  readonly isInGracePeriod: boolean;
  readonly isNotification: boolean;
  /** The order of the period, if it is readable. */
  readonly order?: OrderResponse;
}

/** Queries the subscription and merges the observation into the state. */
async function observe(
  state: PurchaseState | undefined,
  { period, now, isInGracePeriod, isNotification, order }: QueryCase,
): Promise<PurchaseState> {
  const subscription = buildSubscription(period, isInGracePeriod);
  const context = createGoogleContext(
    { subscription, ...(order && { order }) },
    {
      now: () => now,
      findPurchase: async () => state?.purchase,
      listTransactions: async () => state?.transactions.map(({ transaction }) => transaction) ?? [],
    },
  );
  const refreshToken = { purchaseToken: 'token-1', kind: 'subscription' };
  const notification = {
    key: 'key',
    type: 'SUBSCRIPTION_RENEWED',
    occurredAt: now,
    payload: { token: 'token-1', kind: 'subscription' },
  };
  const observations = isNotification
    ? (await googlePlay.observe?.(notification, context))?.observations
    : await googlePlay.refresh?.(refreshToken, context);
  const [observation] = observations ?? [];
  if (!observation) throw new Error('The subscription is not observed');
  const { refreshToken: _refreshToken, ...content } = observation;
  return merge(state, content);
}

describe('period of a subscription without readable orders (Google Play)', () => {
  it('keeps its dates and follows the one before without a gap', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Look, { minLength: 1, maxLength: 8 }), async (looks) => {
        let state: PurchaseState | undefined;
        let lastPeriod = -1;
        for (const [period, { kind, afterMs, isInGracePeriod }] of looks.entries()) {
          if (kind === 'none') continue;
          const before = state?.transactions.map(({ transaction }) => transaction) ?? [];
          const periodStart = startTime + period * periodMs;
          const isNotification = kind === 'notification' && period > 0;
          const now = periodStart + (isNotification ? 0 : afterMs);
          state = await observe(state, { period, now, isInGracePeriod: false, isNotification });
          if (isInGracePeriod) {
            const end = periodStart + periodMs - 1;
            state = await observe(state, { period, now: end, isInGracePeriod, isNotification: false });
          }
          const transactions = state.transactions.map(({ transaction }) => transaction);
          expect(transactions.slice(0, before.length)).toEqual(before);
          expect(transactions).toHaveLength(before.length + 1);
          const latest = transactions.at(-1);
          if (isNotification || lastPeriod === period - 1) expect(latest?.purchaseDate).toBe(periodStart);
          expect(latest?.expirationDate).toBe(periodStart + periodMs);
          lastPeriod = period;
        }
      }),
      sampleRuns({ sample: 30, full: 300 }),
    );
  });

  it('announces a renewal once if the date of its order becomes readable later', async () => {
    const query = { period: 1, now: startTime + periodMs + hourMs, isInGracePeriod: false, isNotification: false };
    const order = (createdAt: number): OrderResponse => ({
      orderId: 'GPA.1..0',
      state: 'PROCESSED',
      createTime: toText(createdAt),
      lineItems: [{ productId: 'premium' }],
    });
    const bought = await observe(undefined, { ...query, period: 0, now: startTime });
    const renewed = await observe(bought, query);
    expect(findLifecycleReasons({ state: bought, at: startTime }, { state: renewed, at: query.now })).toEqual([
      'RENEWED',
    ]);
    for (const createdAt of [startTime + periodMs - 20 * hourMs, startTime + periodMs + minuteMs]) {
      const dated = await observe(renewed, { ...query, now: query.now + hourMs, order: order(createdAt) });
      expect(dated.purchase.lastRenewalDate).toBe(createdAt);
      expect(findLifecycleReasons({ state: renewed, at: query.now }, { state: dated, at: query.now })).toEqual([]);
    }
  });

  it('starts on the date on which a declined payment succeeded', async () => {
    const query = { period: 1, isInGracePeriod: false, isNotification: false };
    const periodStart = startTime + periodMs;
    const paidAt = periodStart + 5 * dayMs;
    const order: OrderResponse = {
      orderId: 'GPA.1..0',
      state: 'PROCESSED',
      createTime: toText(periodStart),
      orderHistory: { processedEvent: { eventTime: toText(paidAt) } },
      lineItems: [{ productId: 'premium', subscriptionDetails: { servicePeriodStartTime: toText(periodStart) } }],
    };
    const bought = await observe(undefined, { ...query, period: 0, now: startTime });
    const inGrace = await observe(bought, { ...query, period: 0, now: periodStart, isInGracePeriod: true });
    const notified = await observe(inGrace, { ...query, now: paidAt, isNotification: true });
    for (const state of [notified, await observe(notified, { ...query, now: paidAt + hourMs, order })]) {
      expect(state.transactions[1]?.transaction).toMatchObject({ purchaseDate: paidAt, periodStartDate: periodStart });
      expect(state.purchase.lastRenewalDate).toBe(paidAt);
    }
  });

  it('starts at the end of the one before, although the renewal is charged earlier', async () => {
    const query = { isInGracePeriod: false, isNotification: false };
    const bought = await observe(undefined, { ...query, period: 0, now: startTime });
    const chargedAt = startTime + periodMs - 20 * hourMs;
    const early = await observe(bought, { ...query, period: 1, now: chargedAt, isNotification: true });
    const later = await observe(early, { ...query, period: 1, now: chargedAt + dayMs });
    for (const { transactions } of [early, later]) {
      const periodStartDate = startTime + periodMs;
      const period = { purchaseDate: chargedAt, periodStartDate, expirationDate: periodStartDate + periodMs };
      expect(transactions[1]?.transaction).toMatchObject(period);
    }
  });
});
