import { describe, expect, it } from '@jest/globals';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { listEarlierOrderIds } from '../../../../lib/stores/google-play/past-orders.ts';
import { createGoogleContext, createRequest, expiryTime } from './fake-google.ts';

const createOrder = (orderId: string, details: object = {}) => ({
  orderId,
  state: 'PROCESSED',
  createTime: '2026-10-21T12:00:00Z',
  total: { currencyCode: 'USD', units: '4' },
  lineItems: [
    {
      productId: 'premium',
      subscriptionDetails: { basePlanId: 'p1m', servicePeriodEndTime: '2026-11-21T12:00:00Z', ...details },
    },
  ],
});

const renewedSubscription = {
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  startTime: '2026-09-21T12:00:00Z',
  lineItems: [{ productId: 'premium', expiryTime, latestSuccessfulOrderId: 'GPA.1..1' }],
};

describe('listEarlierOrderIds (Google Play)', () => {
  it('derives at most 24 ids from the number of the order', () => {
    expect(listEarlierOrderIds('GPA.1')).toEqual([]);
    expect(listEarlierOrderIds('GPA.1..0')).toEqual(['GPA.1']);
    expect(listEarlierOrderIds('GPA.1..2')).toEqual(['GPA.1', 'GPA.1..0', 'GPA.1..1']);
    expect(listEarlierOrderIds('GPA.1..100')).toHaveLength(24);
  });
});

describe('validate (Google Play) of a renewed subscription', () => {
  it('returns the paid orders of earlier periods', async () => {
    const orders = [
      createOrder('GPA.1', { offerPhaseDetails: { freeTrialDetails: {} } }),
      { ...createOrder('GPA.1..0'), state: 'CANCELED' },
      createOrder('GPA.1..1', { servicePeriodEndTime: '2026-12-20T12:00:00Z' }),
    ];
    const context = createGoogleContext({ subscription: renewedSubscription, order: { orders } as object });
    const [observation] = (await googlePlay.validate(createRequest(), context)).observations;
    const transactions = observation?.transactions.map(({ transactionId, isTrialPeriod, expirationDate }) => ({
      transactionId,
      isTrialPeriod,
      expirationDate: new Date(expirationDate ?? 0).toISOString(),
    }));
    expect(transactions).toEqual([
      { transactionId: 'store_b:GPA.1..1', isTrialPeriod: undefined, expirationDate: '2026-12-20T12:00:00.000Z' },
      { transactionId: 'store_b:GPA.1', isTrialPeriod: true, expirationDate: '2026-11-21T12:00:00.000Z' },
    ]);
  });

  it.each([
    ['the renewal', {}, { amountMicros: 4_000_000, period: 'P1M' }],
    ['no renewal with an offer', { offerPhaseDetails: { introductoryPriceDetails: {} } }, undefined],
  ])('takes the plan of a proration period that is first seen later from %s', async (_title, details, plan) => {
    const rest = { servicePeriodStartTime: '2026-10-21T12:00:00Z', servicePeriodEndTime: '2026-10-30T12:00:00Z' };
    const month = { servicePeriodStartTime: rest.servicePeriodEndTime, servicePeriodEndTime: '2026-11-30T12:00:00Z' };
    const orders = [
      {
        ...createOrder('GPA.1', { ...rest, offerPhaseDetails: { prorationPeriodDetails: {} } }),
        total: { currencyCode: 'USD', units: '1' },
      },
      { ...createOrder('GPA.1..0', { ...month, ...details }), createTime: rest.servicePeriodEndTime },
    ];
    const lineItems = [{ productId: 'premium', expiryTime, latestSuccessfulOrderId: 'GPA.1..0' }];
    const context = createGoogleContext({
      subscription: { ...renewedSubscription, lineItems },
      order: { orders } as object,
    });
    const [observation] = (await googlePlay.validate(createRequest(), context)).observations;
    expect(observation?.transactions.map(({ amountMicros, ...payment }) => [amountMicros, payment.plan])).toEqual([
      [4_000_000, undefined],
      [1_000_000, plan],
    ]);
  });

  it.each(['base', 'addOn'])(
    'returns the earlier payments of each item if the latest order paid for %s only',
    async (paid) => {
      const service = { servicePeriodEndTime: '2026-11-21T12:00:00Z' };
      const toLine = (productId: string) => ({
        productId,
        total: { currencyCode: 'USD', units: '4' },
        subscriptionDetails: service,
      });
      const orders = [
        { ...createOrder('GPA.1'), lineItems: ['base', 'addOn'].map(toLine) },
        { ...createOrder('GPA.1..0'), lineItems: ['base', 'addOn'].map(toLine) },
        { ...createOrder('GPA.1..1'), lineItems: [toLine(paid)] },
      ];
      const lineItems = ['base', 'addOn'].map((productId) => ({
        productId,
        expiryTime,
        latestSuccessfulOrderId: productId === paid ? 'GPA.1..1' : 'GPA.1..0',
      }));
      const context = createGoogleContext({
        subscription: { ...renewedSubscription, lineItems },
        order: { orders } as object,
      });
      const { observations } = await googlePlay.validate(createRequest(), context);
      const payments = observations.map(({ purchase, transactions }) => [
        purchase.productId,
        transactions.map(({ transactionId }) => transactionId).sort(),
      ]);
      const earlier = ['store_b:GPA.1', 'store_b:GPA.1..0'];
      expect(Object.fromEntries(payments)).toEqual({
        'store_b:base': paid === 'base' ? [...earlier, 'store_b:GPA.1..1'] : earlier,
        'store_b:addOn': paid === 'addOn' ? [...earlier, 'store_b:GPA.1..1'] : earlier,
      });
    },
  );
});
