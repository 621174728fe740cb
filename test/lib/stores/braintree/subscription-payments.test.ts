import { describe, expect, it } from '@jest/globals';
import type { BraintreeGateway } from 'braintree';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { findLifecycleReasons, type StateAt } from '../../../../lib/purchases/lifecycle-reasons.ts';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { MappingContext } from '../../../../lib/stores/braintree/mapping-context.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from '../../../../lib/stores/braintree/payloads.ts';
import { fetchObservations } from '../../../../lib/stores/braintree/refresh.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/braintree/subscription-observation.ts';

const october = { billingPeriodStartDate: '2026-10-01', billingPeriodEndDate: '2026-10-31' };
const november = { billingPeriodStartDate: '2026-11-01', billingPeriodEndDate: '2026-11-30' };

const buildPayment = (id: string, createdAt: string, changes: object = {}) => ({
  id,
  type: 'sale',
  status: 'settled',
  amount: '10.00',
  currencyIsoCode: 'USD',
  createdAt,
  refundIds: [],
  subscriptionId: 's1',
  customer: { id: 'ann' },
  subscription: october,
  ...changes,
});
const first = buildPayment('first', '2026-10-01T15:00:00Z');
const proration = buildPayment('proration', '2026-10-16T12:00:00Z', { amount: '5.00' });
const second = buildPayment('second', '2026-11-01T15:00:00Z', { subscription: november, amount: '20.00' });

const buildSubscription = (changes: object = {}) => ({
  id: 's1',
  planId: 'pro',
  status: 'Active',
  createdAt: '2026-10-01T15:00:00Z',
  firstBillingDate: '2026-10-01',
  neverExpires: true,
  currentBillingCycle: 1,
  trialPeriod: false,
  ...october,
  paidThroughDate: '2026-10-31',
  statusHistory: [
    { status: 'Active', timestamp: '2026-10-16T12:00:00Z', price: '20.00' },
    { status: 'Active', timestamp: '2026-10-01T15:00:00Z', price: '10.00' },
  ],
  transactions: [first],
  ...changes,
});

const mapping = {
  productId: 'pro',
  productTypes: { pro: 'paid subscription' as const },
  planIds: { pro: 'pro', max: 'max_2027' } as Readonly<Record<string, string>>,
  sandbox: false,
  timeZone: 'America/Chicago',
  graceMs: 7 * dayMs,
};

const observe = (
  asOf: string,
  changes: object,
  refunds: readonly object[] = [],
  context: Partial<MappingContext> = {},
): Observation =>
  toSubscriptionObservation(
    parseBraintreeObject(Subscription, buildSubscription(changes)),
    refunds.map((refund) => parseBraintreeObject(BraintreeTransaction, refund)),
    { ...mapping, ...context, asOf: Date.parse(asOf) },
  );

/** Records the observations like the service. Returns the reasons of each. */
function recordAll(observations: readonly Observation[]) {
  let before: StateAt | undefined;
  const reasons: string[][] = [];
  for (const { refreshToken: _token, ...observation } of observations) {
    const after: StateAt = { state: merge(before?.state, observation), at: observation.asOf };
    reasons.push(findLifecycleReasons(before, after));
    before = after;
  }
  return { state: before?.state, reasons };
}

describe('toSubscriptionObservation (Braintree) of several payments of a period', () => {
  it('does not renew with a prorated charge within the period', () => {
    const { state, reasons } = recordAll([
      observe('2026-10-02T00:00:00Z', {}),
      observe('2026-10-16T12:01:00Z', { transactions: [proration, first] }),
      observe('2026-11-01T16:00:00Z', {
        ...november,
        paidThroughDate: '2026-11-30',
        transactions: [second, proration, first],
      }),
    ]);
    expect(reasons).toEqual([['PURCHASED'], [], ['RENEWED']]);
    expect(state?.purchase.lastRenewalDate).toBe(Date.parse('2026-11-01T15:00:00Z'));
    expect(state?.transactions.map(({ transaction }) => transaction.amountMicros)).toEqual([
      10_000_000, 5_000_000, 20_000_000,
    ]);
  });

  it('does not renew with a prorated charge within a period that a discount or the balance pays', () => {
    const free = { transactions: [], statusHistory: [{ status: 'Active', timestamp: '2026-10-01T15:00:00Z' }] };
    const { state, reasons } = recordAll([
      observe('2026-10-02T00:00:00Z', free),
      observe('2026-10-16T12:01:00Z', { transactions: [proration] }),
    ]);
    expect(reasons).toEqual([['PURCHASED'], []]);
    expect(state?.purchase.purchaseDate).toBe(Date.parse('2026-10-01T15:00:00Z'));
    expect(state?.transactions.map(({ transaction }) => transaction.amountMicros)).toEqual([5_000_000]);
  });

  it.each([
    ['that was past due', 'Past Due', '2026-10-01T15:00:00Z'],
    ['that was pending', 'Pending', '2026-10-01T15:00:00Z'],
    ['on its second day', 'Active', '2026-09-01T15:00:00Z'],
  ])('renews with the first payment of a period %s', (_title, status, timestamp) => {
    const createdAt = status === 'Active' ? '2026-10-02T15:00:00Z' : '2026-10-16T12:00:00Z';
    const september = { billingPeriodStartDate: '2026-09-01', billingPeriodEndDate: '2026-09-30' };
    const earlier = buildPayment('earlier', '2026-09-01T15:00:00Z', { subscription: september });
    const statusHistory = [
      { status: 'Active', timestamp: createdAt },
      { status, timestamp },
    ];
    const subscription = { createdAt: '2026-09-01T15:00:00Z', firstBillingDate: '2026-09-01', statusHistory };
    const transactions = [buildPayment('late', createdAt), earlier];
    expect(observe('2026-10-17T00:00:00Z', { ...subscription, transactions }).purchase.lastRenewalDate).toBe(
      Date.parse(createdAt),
    );
  });

  it('keeps the dates and the amount of the purchase with a prorated charge', () => {
    expect(observe('2026-10-17T00:00:00Z', { transactions: [proration, first] }).purchase).toMatchObject({
      transactionId: 'processor_b:first',
      amountMicros: 10_000_000,
      expirationDate: observe('2026-10-17T00:00:00Z', {}).purchase.expirationDate,
    });
    expect(observe('2026-10-17T00:00:00Z', { transactions: [proration, first] }).purchase).not.toHaveProperty(
      'lastRenewalDate',
    );
  });

  it('ends with a billing error when the settlement of its payment is declined', () => {
    const declined = {
      ...second,
      status: 'settlement_declined',
      statusHistory: [
        { status: 'submitted_for_settlement', timestamp: '2026-11-01T15:00:00Z' },
        { status: 'settlement_declined', timestamp: '2026-11-05T15:00:00Z' },
      ],
    };
    const period = { ...november, paidThroughDate: '2026-11-30', transactions: [declined, first] };
    expect(observe('2026-11-06T00:00:00Z', period).purchase).toMatchObject({
      endedAt: Date.parse('2026-11-05T15:00:00Z'),
      cancelationReason: 'System.BillingError',
    });
  });

  it('does not end with the refund of a prorated charge', () => {
    const refund = {
      id: 'refund',
      type: 'credit',
      status: 'settled',
      amount: '5.00',
      createdAt: '2026-10-18T00:00:00Z',
      refundedTransactionId: 'proration',
    };
    const transactions = [{ ...proration, refundIds: ['refund'] }, first];
    const { purchase, transactions: mapped } = observe('2026-10-19T00:00:00Z', { transactions }, [refund]);
    expect(purchase).not.toHaveProperty('endedAt');
    expect(mapped[0]).toMatchObject({ refundedAt: Date.parse('2026-10-18T00:00:00Z') });
  });

  it.each([
    ['a prorated charge', [proration, first], 0, { amountMicros: 20_000_000, period: 'P1M' }],
    ['the payment of a whole period', [proration, first], 1, undefined],
    [
      'a payment that the balance of a downgrade has lowered',
      [{ ...second, amount: '14.50' }, proration, first],
      0,
      { amountMicros: 20_000_000, period: 'P1M' },
    ],
    [
      'a payment with an add-on and a discount',
      [
        {
          ...second,
          amount: '22.00',
          addOns: [{ amount: '1.50', quantity: 2 }],
          discounts: [{ id: 'd', amount: '1.00', quantity: 1 }],
        },
        proration,
        first,
      ],
      0,
      undefined,
    ],
    [
      'a prorated charge of a period of four weeks',
      [
        { ...proration, subscription: { billingPeriodStartDate: '2026-10-01', billingPeriodEndDate: '2026-10-28' } },
        { ...first, subscription: { billingPeriodStartDate: '2026-10-01', billingPeriodEndDate: '2026-10-28' } },
      ],
      0,
      { amountMicros: 20_000_000, period: 'P28D' },
    ],
    [
      'a prorated charge of a month from its last day',
      [
        { ...proration, subscription: { billingPeriodStartDate: '2026-01-31', billingPeriodEndDate: '2026-02-27' } },
        { ...first, subscription: { billingPeriodStartDate: '2026-01-31', billingPeriodEndDate: '2026-02-27' } },
      ],
      0,
      { amountMicros: 20_000_000, period: 'P1M' },
    ],
  ])('reports the price of the plan with %s', (_case, transactions, index, plan) => {
    expect(observe('2026-11-02T00:00:00Z', { transactions }).transactions[index]?.plan).toEqual(plan);
  });

  it('starts with a period that a discount makes free', () => {
    const start = Date.parse('2026-10-01T15:00:00Z');
    const free = observe('2026-10-02T00:00:00Z', { transactions: [] });
    expect(free.purchase.purchaseDate).toBe(start);
    const paid = observe('2026-11-02T00:00:00Z', {
      ...november,
      paidThroughDate: '2026-11-30',
      transactions: [second],
    });
    expect(paid.purchase).toMatchObject({ purchaseDate: start, lastRenewalDate: Date.parse(second.createdAt) });
    expect(recordAll([free, paid]).reasons).toEqual([['PURCHASED'], ['RENEWED']]);
  });

  it.each(['voided', 'settled'])('does not take a %s refund among its transactions for a payment', (status) => {
    const refund = buildPayment('refund', '2026-10-05T12:00:00Z', { type: 'credit', status, amount: '3.00' });
    const { purchase, transactions } = observe('2026-10-06T00:00:00Z', { transactions: [refund, first] });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(purchase.transactionId).toBe('processor_b:first');
    expect(transactions).toHaveLength(1);
  });

  it('reports the tax within the amount of a payment', () => {
    const [transaction] = observe('2026-10-02T00:00:00Z', {
      transactions: [{ ...first, taxAmount: '1.60' }],
    }).transactions;
    expect(transaction).toMatchObject({ amountMicros: 10_000_000, taxMicros: 1_600_000 });
  });
});

/** 26 monthly payments, the latest first. */
const history = Array.from({ length: 26 }, (_, index) => {
  const [start, end] = [index, index + 1].map((month) => new Date(Date.UTC(2024, 9 + month, 1)));
  const lastDay = new Date((end?.getTime() ?? 0) - dayMs);
  return buildPayment(`month${index}`, `${start?.toISOString().slice(0, 10)}T15:00:00Z`, {
    subscription: {
      billingPeriodStartDate: start?.toISOString().slice(0, 10),
      billingPeriodEndDate: lastDay.toISOString().slice(0, 10),
    },
  });
}).reverse();

/** A gateway whose subscription contains only the latest payments. */
function createGateway(payments: readonly { readonly id: string }[], embedded: number) {
  const calls: string[] = [];
  const subscription = {
    ...buildSubscription({ createdAt: '2024-10-01T15:00:00Z', firstBillingDate: '2024-10-01', ...november }),
    paidThroughDate: '2026-11-30',
    transactions: payments.slice(0, embedded),
  };
  const gateway = {
    subscription: { find: async () => subscription },
    transaction: {
      find: async (id: string) => {
        calls.push(id);
        return payments.find((payment) => payment.id === id);
      },
      search: (_criteria: unknown, respond: (error: unknown, response: object) => void) => {
        calls.push('search');
        respond(undefined, { ids: payments.map(({ id }) => id) });
      },
    },
  };
  return { gateway: gateway as unknown as BraintreeGateway, calls };
}

const settings = {
  merchantId: 'merchant',
  publicKey: 'public',
  privateKey: 'private',
  environment: 'production',
  catalogue: {},
};

async function refreshHistory(gateway: BraintreeGateway, storedIds: readonly string[], paymentId?: string) {
  const context = {
    settings,
    now: () => Date.parse('2026-11-02T00:00:00Z'),
    listTransactions: async () => storedIds.map((id) => ({ transactionId: `processor_b:${id}` })) as never,
  };
  const [observation] = await fetchObservations(gateway, { subscription: 's1', productId: 'pro' }, context, paymentId);
  return observation;
}

describe('fetchObservations (Braintree) of a subscription with more payments than it contains', () => {
  it.each([20, 2])(
    'fetches the earlier payments that are not recorded from a list with %i payments',
    async (length) => {
      const { gateway } = createGateway(history, length);
      const observation = await refreshHistory(gateway, []);
      expect(observation?.transactions).toHaveLength(26);
      expect(observation?.purchase.purchaseDate).toBe(Date.parse('2024-10-01T15:00:00Z'));
    },
  );

  it('relies on the recorded payments', async () => {
    const { gateway, calls } = createGateway(history, 20);
    const observation = await refreshHistory(gateway, ['month6', 'month5', 'month0']);
    expect(observation?.transactions).toHaveLength(20);
    expect(calls).toEqual([]);
  });

  it('fetches the earlier payment of a notification', async () => {
    const refunded = history.map((payment) =>
      payment.id === 'month2' ? { ...payment, refundIds: ['refund'] } : payment,
    );
    const refund = {
      ...buildPayment('refund', '2026-11-01T18:00:00Z'),
      type: 'credit',
      refundedTransactionId: 'month2',
    };
    const { gateway } = createGateway([...refunded, refund], 20);
    const observation = await refreshHistory(gateway, ['month6'], 'month2');
    expect(observation?.transactions.filter(({ refundedAt }) => refundedAt !== undefined)).toMatchObject([
      { transactionId: 'processor_b:month2' },
    ]);
  });
});

describe('retry of a payment (Braintree)', () => {
  it.each(['settlement_declined', 'voided'])('pays the period of a %s payment', (status) => {
    const statusHistory = [
      { status: 'submitted_for_settlement', timestamp: '2026-11-01T15:00:00Z' },
      { status, timestamp: '2026-11-05T15:00:00Z' },
    ];
    const failed = { ...second, status, statusHistory };
    const retry = buildPayment('retry', '2026-11-08T15:00:00Z', { subscription: november, amount: '20.00' });
    const { purchase, transactions } = observe('2026-11-09T00:00:00Z', {
      ...november,
      paidThroughDate: '2026-11-30',
      transactions: [retry, failed, first],
    });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(purchase).toMatchObject({ transactionId: 'processor_b:retry' });
    expect(transactions.find(({ transactionId }) => transactionId === 'processor_b:retry')).not.toHaveProperty(
      'isRenewal',
    );
  });
});

describe('first payment that fails (Braintree)', () => {
  const declined = { timestamp: '2026-10-04T00:00:00Z' };
  const debit = {
    status: 'settlement_declined',
    statusHistory: [
      { status: 'settlement_declined', ...declined },
      { status: 'settlement_pending', timestamp: first.createdAt },
    ],
  };
  const card = { status: 'processor_declined', statusHistory: [{ status: 'processor_declined', ...declined }] };
  const abandoned = { isAbandoned: true, expirationDate: Date.parse(declined.timestamp) };

  it.each<[string, object, object, object]>([
    ['a debit days later, while Braintree keeps it active', {}, debit, abandoned],
    ['on a later first billing date', { status: 'Past Due', paidThroughDate: null }, card, { isPending: true }],
  ])('gives no access: %s', (_title, changes, payment, expected) => {
    const { purchase, transactions } = observe('2026-10-05T00:00:00Z', {
      ...changes,
      transactions: [{ ...first, ...payment }],
    });
    expect(purchase).toMatchObject(expected);
    expect(transactions).toEqual([]);
  });

  it('keeps access after a free period', () => {
    const late = { ...november, currentBillingCycle: 2, status: 'Past Due', paidThroughDate: null };
    const { purchase } = observe('2026-11-03T00:00:00Z', { ...late, transactions: [{ ...second, ...card }] });
    expect(purchase).not.toHaveProperty('isPending');
    expect(purchase.isBillingRetryPeriod).toBe(true);
  });
});

describe('renewal whose payment failed before the subscription is past due (Braintree)', () => {
  const unpaid = { ...november, currentBillingCycle: 2 };
  const read = (at: string, status: string, changes: object = {}) => {
    const { purchase, transactions } = observe(at, {
      ...unpaid,
      transactions: [{ ...second, status, statusHistory: [{ status }, { status: 'settlement_pending' }] }, first],
      ...changes,
    });
    const { isBillingRetryPeriod, lastRenewalDate, expirationDate, cancelationReason } = purchase;
    const until = new Date(expirationDate ?? 0).toISOString().slice(0, 10);
    return { until, isBillingRetryPeriod, lastRenewalDate, cancelationReason, payments: transactions.length };
  };
  const kept = { lastRenewalDate: undefined, cancelationReason: undefined, payments: 1 };

  it.each(['failed', 'settlement_declined'])('has the grace of the paid period while it is %s', (status) => {
    expect(read('2026-11-02T00:00:00Z', status)).toEqual({ ...kept, until: '2026-11-08', isBillingRetryPeriod: true });
    expect(read('2026-11-20T00:00:00Z', status)).toMatchObject({
      until: '2026-11-08',
      cancelationReason: 'System.BillingError',
    });
  });

  it('ends with the paid period if it was canceled then', () => {
    const canceled = { status: 'Canceled', statusHistory: [{ status: 'Canceled' }, { status: 'Active' }] };
    expect(read('2026-11-02T00:00:00Z', 'failed', canceled)).toMatchObject({ until: '2026-11-01' });
  });

  it.each([
    ['a retry succeeded', { transactions: [second, { ...second, id: 'failed', status: 'failed' }, first] }],
    ['the payment is not decided', { transactions: [{ ...second, status: 'settlement_pending' }, first] }],
    [
      'a charge within a free period failed',
      { transactions: [{ ...second, status: 'failed', createdAt: '2026-11-16T12:00:00Z' }, first] },
    ],
  ])('goes on with the period if %s', (_title, changes) => {
    expect(read('2026-11-02T00:00:00Z', 'failed', changes)).toMatchObject({ isBillingRetryPeriod: undefined });
    expect(read('2026-11-02T00:00:00Z', 'failed', changes).until).toBe('2026-12-02');
  });
});

describe('refund of a payment before a period without one (Braintree)', () => {
  const refunded = { ...first, refundIds: ['refund'] };
  const refund = buildPayment('refund', '2026-11-05T12:00:00Z', { type: 'credit', refundedTransactionId: 'first' });
  const price = { status: 'Active', timestamp: '2026-10-01T15:00:00Z', price: '10.00' };
  const discount = { id: 'free', amount: '10.00', quantity: 1 };
  const later = { ...november, currentBillingCycle: 2, statusHistory: [price], transactions: [refunded] };
  const read = (changes: object, date = '2026-11-05T12:00:00Z') => {
    const dated = { ...refund, createdAt: date };
    const { purchase, transactions } = observe('2026-11-06T00:00:00Z', { ...later, ...changes }, [dated]);
    const { endedAt, cancelationReason } = purchase;
    return { endedAt, cancelationReason, refundedAt: transactions[0]?.refundedAt };
  };
  const refundedAt = Date.parse('2026-11-05T12:00:00Z');
  const ends = { endedAt: refundedAt, cancelationReason: 'Customer', refundedAt };
  const stays = { endedAt: undefined, cancelationReason: undefined, refundedAt };

  it.each([
    ['a discount makes free', { price: '10.00', discounts: [discount] }, stays],
    [
      'several discounts make free',
      { price: '10.00', discounts: [{ ...discount, amount: '5.00', quantity: 2 }] },
      stays,
    ],
    ['has the price 0', { price: '0.00' }, stays],
    ['the balance of a former plan pays', { price: '10.00', balance: '-2.00' }, ends],
    ['a discount and the balance pay', { price: '10.00', discounts: [{ ...discount, amount: '4.00' }] }, ends],
    ['has an add-on beside its discount', { price: '10.00', discounts: [discount], addOns: [discount] }, ends],
    ['is past due', { price: '10.00', discounts: [discount], status: 'Past Due' }, ends],
    ['is of an unknown price', {}, ends],
  ])('ends the access only if the payment pays the period: it %s', (_title, changes, expected) => {
    expect(read(changes)).toEqual(expected);
  });

  it('keeps a period that the balance pays if the charge of a plan change was not refunded', () => {
    const returned = { ...refund, id: 'second-refund', amount: '5.00', refundedTransactionId: 'proration' };
    const find = (charge: object) => {
      const state = { ...later, price: '10.00', transactions: [charge, refunded] };
      return observe('2026-11-06T00:00:00Z', state, [refund, returned]).purchase.endedAt;
    };
    expect(find(proration)).toBeUndefined();
    expect(find({ ...proration, refundIds: [returned.id] })).toBe(refundedAt);
  });

  it('keeps a free period that starts after the refund', () => {
    const date = '2026-10-20T12:00:00Z';
    const state = read({ price: '10.00', discounts: [discount] }, date);
    expect(state).toEqual({ ...stays, refundedAt: Date.parse(date) });
  });

  it('ends the access in the period that the payment started, whatever the next one costs', () => {
    const current = { ...october, currentBillingCycle: 1, price: '10.00', discounts: [discount] };
    expect(read(current)).toEqual(ends);
  });
});

describe('change to the plan of another product (Braintree)', () => {
  const basic = { status: 'Active', timestamp: '2026-10-01T15:00:00Z', price: '10.00', planId: 'pro' };
  const better = { status: 'Active', timestamp: '2026-10-16T12:00:00Z', price: '20.00', planId: 'max_2027' };
  const unchanged = { statusHistory: [basic] };
  const changed = { planId: 'max_2027', statusHistory: [better, basic] };
  const renewed = {
    ...changed,
    ...november,
    paidThroughDate: '2026-11-30',
    currentBillingCycle: 2,
    transactions: [second, first],
  };

  it('announces the change, and its product has access', () => {
    const observations = [
      observe('2026-10-02', unchanged),
      observe('2026-10-17', changed),
      observe('2026-11-02', renewed),
    ];
    expect(observations.map(({ purchase }) => purchase.productId)).toEqual([
      'processor_b:pro',
      'processor_b:max',
      'processor_b:max',
    ]);
    expect(recordAll(observations).reasons).toEqual([['PURCHASED'], ['PLAN_CHANGED'], ['RENEWED']]);
    expect(observations[1]?.refreshToken).toMatchObject({ productId: 'max' });
  });

  it('keeps the product of the earlier payments when the purchase has the new one', () => {
    const listProducts = ({ transactions }: Observation) => transactions.map(({ productId }) => productId);
    expect(listProducts(observe('2026-11-02', renewed))).toEqual(['processor_b:max', 'processor_b:pro']);
    expect(listProducts(observe('2026-11-02', renewed, [], { productId: 'max' }))).toEqual([
      'processor_b:max',
      'processor_b:pro',
    ]);
  });

  it.each([
    ['the plan is not in the catalogue', { planIds: { pro: 'pro' } }],
    ['several products have the plan', { planIds: { pro: 'pro', max: 'max_2027', max2: 'max_2027' } }],
  ])('keeps the product if %s', (_case, context) => {
    expect(observe('2026-10-17', changed, [], context).purchase.productId).toBe('processor_b:pro');
  });
});
