import { describe, expect, it, test } from '@jest/globals';
import type * as v from 'valibot';
import type { Subscription } from '../../../../lib/stores/processor-a/payloads.ts';
import { indexReversals } from '../../../../lib/stores/processor-a/payment-reversals.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/processor-a/subscription-observation.ts';
import {
  bought,
  givenCharge,
  givenInvoice,
  givenSubscription,
  origin,
  periodEnd,
  periodStart,
} from './stripe-fixtures.ts';

type State = Partial<v.InferInput<typeof Subscription>>;

const look = (
  state: State = {},
  {
    invoices = [givenInvoice()],
    charges = [givenCharge()],
    disputes = [] as { status: string; created: number; charge: string }[],
  } = {},
) =>
  toSubscriptionObservation(givenSubscription(state), {
    origin,
    invoices,
    takebacks: indexReversals(charges, disputes),
  });

describe('a subscription that was cancelled says why', () => {
  const canceled = (reason: string | null, feedback: string | null = null): State => ({
    status: 'canceled',
    ended_at: periodStart + 500,
    canceled_at: periodStart + 400,
    cancellation_details: { reason, feedback },
  });

  test.each([
    ['payment_failed', null, 'System.BillingError'],
    ['payment_disputed', null, 'System'],
    ['canceled_by_retention_policy', null, 'System'],
    ['cancellation_requested', null, 'Customer'],
    ['cancellation_requested', 'too_expensive', 'Customer.Cost'],
    ['cancellation_requested', 'switched_service', 'Customer.FoundBetterApp'],
    ['cancellation_requested', 'unused', 'Customer.NotUsefulEnough'],
    ['cancellation_requested', 'missing_features', 'Customer.NotUsefulEnough'],
    ['cancellation_requested', 'low_quality', 'Customer.TechnicalIssues'],
    ['cancellation_requested', 'too_complex', 'Customer.TechnicalIssues'],
    ['cancellation_requested', 'customer_service', 'Customer.OtherReason'],
    ['cancellation_requested', 'other', 'Customer.OtherReason'],
    ['cancellation_requested', 'a new word', 'Customer'],
    [null, null, 'Unknown'],
  ])('%s, %s: %s', (reason, feedback, expected) => {
    expect(look(canceled(reason, feedback)).purchase).toMatchObject({
      cancelationReason: expected,
      expirationDate: (periodStart + 500) * 1000,
      renewalIntentChangeDate: (periodStart + 400) * 1000,
      renewalIntent: 'Lapse',
    });
  });
});

describe('its transactions', () => {
  it('are the paid invoices with what was paid', () => {
    const open = givenInvoice({ id: 'in_4', status: 'open', amount_paid: 0 });
    expect(look({}, { invoices: [open, givenInvoice()] }).transactions).toEqual([
      {
        transactionId: 'processor_a:in_3',
        purchaseId: 'processor_a:sub_1',
        productId: 'processor_a:prod_basic',
        offerId: 'processor_a:prod_basic#price_month',
        platform: 'processor_a',
        sandbox: false,
        purchaseDate: (periodStart + 60) * 1000,
        expirationDate: periodEnd * 1000,
        quantity: 2,
        currency: 'USD',
        amountMicros: 9_980_000,
      },
    ]);
  });

  it('hold the free trial as one without amount', () => {
    const [transaction] = look(
      { status: 'trialing', trial_end: periodEnd },
      { invoices: [givenInvoice({ amount_paid: 0 })] },
    ).transactions;
    expect(transaction).toMatchObject({ isTrialPeriod: true, amountMicros: 0 });
  });

  it('start with the subscription, however long the first payment took', () => {
    const [transaction] = look(
      {},
      { invoices: [givenInvoice({ billing_reason: 'subscription_create' })] },
    ).transactions;
    expect(transaction?.purchaseDate).toBe(bought * 1000);
  });
});

describe('money that went back', () => {
  const refundedAt = periodStart + 900;
  const refunded = givenCharge({ refunded: true, refunds: { data: [{ created: refundedAt, status: 'succeeded' }] } });

  it('ends the purchase when all of the latest payment was refunded', () => {
    const { purchase, transactions } = look({}, { charges: [refunded] });
    expect(purchase).toMatchObject({ endedAt: refundedAt * 1000, cancelationReason: 'Customer' });
    expect(transactions).toMatchObject([{ refundedAt: refundedAt * 1000 }]);
  });

  it('changes nothing when it was a part of it', () => {
    const part = givenCharge({ refunds: { data: [{ created: refundedAt, status: 'succeeded' }] } });
    expect(look({}, { charges: [part] })).toEqual(look());
  });

  it('leaves the purchase when an earlier payment was refunded', () => {
    const earlier = givenInvoice({
      id: 'in_2',
      created: bought,
      payments: { data: [{ payment: { charge: 'ch_2' } }] },
    });
    const charges = [givenCharge(), givenCharge({ ...refunded, id: 'ch_2', payment_intent: null })];
    const { purchase, transactions } = look({}, { invoices: [givenInvoice(), earlier], charges });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions.map(({ transactionId, refundedAt: at }) => [transactionId, at])).toEqual([
      ['processor_a:in_2', refundedAt * 1000],
      ['processor_a:in_3', undefined],
    ]);
  });

  test.each([
    ['lost', { endedAt: refundedAt * 1000, cancelationReason: 'System' }],
    ['won', {}],
    ['under_review', {}],
  ])('after a dispute that is %s', (status, expected) => {
    const disputes = [{ status, created: refundedAt, charge: 'ch_3' }];
    const { purchase } = look({}, { charges: [givenCharge({ disputed: true })], disputes });
    expect({ endedAt: purchase.endedAt, cancelationReason: purchase.cancelationReason }).toEqual({
      endedAt: undefined,
      cancelationReason: undefined,
      ...expected,
    });
  });
});
