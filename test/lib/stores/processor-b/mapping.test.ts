import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { dayMs, type MappingContext } from '../../../../lib/stores/processor-b/mapping-context.ts';
import {
  BraintreeTransaction,
  parseBraintreeObject,
  Subscription,
} from '../../../../lib/stores/processor-b/payloads.ts';
import { toPaymentObservation } from '../../../../lib/stores/processor-b/payment-observation.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/processor-b/subscription-observation.ts';

const now = Date.parse('2027-03-10T12:00:00Z');
const origin: MappingContext = {
  productId: 'monthly',
  productType: 'paid subscription',
  customerId: 'buyer',
  sandbox: false,
  graceMs: 7 * dayMs,
  at: now,
};

const givenPayment = (state: Partial<v.InferInput<typeof BraintreeTransaction>> = {}): BraintreeTransaction =>
  parseBraintreeObject(BraintreeTransaction, {
    id: 'pay1',
    type: 'sale',
    status: 'settled',
    amount: '9.99',
    currencyIsoCode: 'EUR',
    createdAt: '2027-03-01T08:00:00Z',
    updatedAt: '2027-03-02T08:00:00Z',
    refundIds: [],
    ...state,
  });

/** A monthly subscription in its third period; `state` says what differs. */
const givenSubscription = (state: Partial<v.InferInput<typeof Subscription>> = {}): Subscription =>
  parseBraintreeObject(Subscription, {
    id: 'sub1',
    planId: 'monthly',
    status: 'Active',
    createdAt: '2027-01-01T08:00:00Z',
    updatedAt: '2027-03-01T08:00:00Z',
    firstBillingDate: '2027-01-01',
    billingPeriodStartDate: '2027-03-01',
    billingPeriodEndDate: '2027-03-31',
    paidThroughDate: '2027-03-31',
    trialPeriod: false,
    neverExpires: true,
    currentBillingCycle: 3,
    numberOfBillingCycles: null,
    discounts: [],
    statusHistory: [{ status: 'Active', timestamp: '2027-01-01T08:00:00Z' }],
    transactions: [givenPayment()],
    ...state,
  });

const history = (...statuses: string[]) =>
  statuses.map((status, index) => ({ status, timestamp: `2027-03-0${9 - index}T00:00:00Z` }));
const trial = { trialPeriod: true, paidThroughDate: null, billingPeriodStartDate: null, transactions: [] };

describe('a subscription', () => {
  it.each<[string, Partial<v.InferInput<typeof Subscription>>, Partial<Purchase>]>([
    ['Active', {}, { renewalIntent: 'Renew', expirationDate: Date.parse('2027-04-01') }],
    ['in a later period', {}, { purchaseDate: Date.parse('2027-01-01'), lastRenewalDate: Date.parse('2027-03-01') }],
    ['in its last cycle', { neverExpires: false, numberOfBillingCycles: 3 }, { renewalIntent: 'Lapse' }],
    ['before its last cycle', { neverExpires: false, numberOfBillingCycles: 4 }, { renewalIntent: 'Renew' }],
    ['Past Due', { status: 'Past Due' }, { isBillingRetryPeriod: true, expirationDate: Date.parse('2027-04-08') }],
    ['Pending', { status: 'Pending' }, { isPending: true }],
    ['Expired', { status: 'Expired' }, { renewalIntent: 'Lapse' }],
    [
      'Canceled',
      { status: 'Canceled', statusHistory: history('Canceled', 'Active') },
      { renewalIntent: 'Lapse', cancelationReason: 'Customer', renewalIntentChangeDate: Date.parse('2027-03-09') },
    ],
    [
      'Canceled when overdue',
      { status: 'Canceled', statusHistory: history('Canceled', 'Past Due', 'Active') },
      { cancelationReason: 'System.BillingError' },
    ],
    [
      'in trial',
      { ...trial, firstBillingDate: '2027-03-15' },
      {
        isTrialPeriod: true,
        purchaseDate: Date.parse('2027-01-01T08:00:00Z'),
        expirationDate: Date.parse('2027-03-16'),
      },
    ],
    ['with a discount', { discounts: [{ id: 'summer' }] }, { discountId: 'summer' }],
    ['paid', {}, { transactionId: 'processor_b:pay1', currency: 'EUR', amountMicros: 9_990_000, sandbox: false }],
  ])('that is %s', (_state, given, expected) => {
    expect(toSubscriptionObservation(givenSubscription(given), [], origin).purchase).toMatchObject(expected);
  });

  it('has no state that it is not in', () => {
    const { purchase } = toSubscriptionObservation(givenSubscription(), [], origin);
    for (const field of ['isPending', 'isTrialPeriod', 'isBillingRetryPeriod', 'cancelationReason', 'discountId'])
      expect(purchase).not.toHaveProperty(field);
  });

  it('does not count a payment that was declined', () => {
    const declined = givenPayment({ id: 'pay2', status: 'processor_declined', createdAt: '2027-03-05T08:00:00Z' });
    const observation = toSubscriptionObservation(
      givenSubscription({ transactions: [declined, givenPayment()] }),
      [],
      origin,
    );
    expect(observation.transactions.map(({ transactionId }) => transactionId)).toEqual(['processor_b:pay1']);
  });
});

describe('a payment', () => {
  it.each(['authorized', 'authorizing', 'submitted_for_settlement', 'settling', 'settled', 'settlement_confirmed'])(
    'that is %s is paid',
    (status) => {
      const { purchase, transactions } = toPaymentObservation(givenPayment({ status }), [], origin);
      expect(transactions).toHaveLength(1);
      for (const field of ['endedAt', 'isPending', 'expirationDate']) expect(purchase).not.toHaveProperty(field);
    },
  );

  it.each<[string, Partial<Purchase>]>([
    ['settlement_pending', { isPending: true }],
    ['voided', { cancelationReason: 'Customer', endedAt: Date.parse('2027-03-02T08:00:00Z') }],
    ['gateway_rejected', { cancelationReason: 'System' }],
    ['settlement_declined', { cancelationReason: 'System.BillingError' }],
    ['failed', { cancelationReason: 'System.BillingError' }],
    ['authorization_expired', { cancelationReason: 'System.BillingError' }],
    ['a_status_of_the_future', { endedAt: expect.any(Number) as unknown as number }],
  ])('that is %s', (status, expected) => {
    expect(toPaymentObservation(givenPayment({ status }), [], origin).purchase).toMatchObject(expected);
  });

  it.each([
    ['the whole amount ends it', '9.99', true],
    ['a part of the amount does not', '5.00', false],
  ])('refunded: %s', (_what, amount, ends) => {
    const refund = givenPayment({ id: 'ref1', type: 'credit', amount, createdAt: '2027-03-08T00:00:00Z' });
    const { purchase } = toPaymentObservation(givenPayment({ refundIds: ['ref1'] }), [refund], origin);
    expect(purchase.endedAt).toBe(ends ? Date.parse('2027-03-08') : undefined);
  });
});
