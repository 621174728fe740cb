import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import type { Charge, Subscription } from '../../../../lib/stores/stripe/payloads.ts';
import {
  givenCharge,
  givenDispute,
  givenInvoice,
  givenLines,
  givenRefund,
  observe,
  periodEnd,
  periodStart,
  startSeconds,
} from './stripe-fixtures.ts';

type State = Partial<v.InferInput<typeof Subscription>>;

describe('toSubscriptionObservations: cancelation reason', () => {
  const canceled = (reason: string | null, feedback: string | null = null): State => ({
    status: 'canceled',
    ended_at: periodStart + 500,
    canceled_at: periodStart + 400,
    cancellation_details: { reason, feedback },
  });

  it.each([
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
    ['cancellation_requested', 'new_feedback', 'Customer'],
    [null, null, 'Unknown'],
  ])('maps the reason %s with the feedback %s to %s', (reason, feedback, expected) => {
    expect(observe(canceled(reason, feedback)).purchase).toMatchObject({
      cancelationReason: expected,
      expirationDate: (periodStart + 500) * 1000,
      renewalIntentChangeDate: (periodStart + 400) * 1000,
      renewalIntent: 'Lapse',
    });
  });
});

describe('toSubscriptionObservations: transactions', () => {
  it('maps paid invoices only', () => {
    const open = givenInvoice({ id: 'in_4', status: 'open', amount_paid: 0 });
    expect(observe({}, { invoices: [open, givenInvoice()] }).transactions).toEqual([
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
        isRenewal: true,
      },
    ]);
  });

  it('maps a free trial to a transaction with the amount 0', () => {
    const [transaction] = observe(
      { status: 'trialing', trial_end: periodEnd },
      { invoices: [givenInvoice({ amount_paid: 0, lines: givenLines({ amount: 0 }) })] },
    ).transactions;
    expect(transaction).toMatchObject({ isTrialPeriod: true, amountMicros: 0 });
  });

  it.each([
    ['at the start of the subscription if it was paid within an hour', 60, 0],
    ['at its payment if that took days', 777_600, 777_600],
  ])('dates the first transaction %s', (_title, paidAfter, datedAfter) => {
    const status_transitions = { paid_at: startSeconds + paidAfter };
    const first = givenInvoice({ billing_reason: 'subscription_create', created: startSeconds, status_transitions });
    const [transaction] = observe({}, { invoices: [first] }).transactions;
    expect(transaction?.purchaseDate).toBe((startSeconds + datedAfter) * 1000);
  });
});

describe('toSubscriptionObservations: payment reversals', () => {
  const refundedAt = periodStart + 900;
  const refunded = givenCharge({ refunded: true, refunds: { data: [givenRefund({ created: refundedAt })] } });

  it('ends the purchase if the latest payment was fully refunded', () => {
    const { purchase, transactions } = observe({}, { charges: [refunded] });
    expect(purchase).toMatchObject({ endedAt: refundedAt * 1000, cancelationReason: 'Customer' });
    expect(transactions).toMatchObject([{ refundedAt: refundedAt * 1000 }]);
  });

  const second = givenRefund({ id: 're_2', created: refundedAt, amount: 200 });
  const first = givenRefund({ id: 're_1', created: periodStart + 60, amount: 100 });
  const refundDates = { re_1: (periodStart + 60) * 1000, re_2: refundedAt * 1000 };
  it.each<[string, Partial<v.InferInput<typeof Charge>>, object]>([
    ['no refund', { refunds: { data: [] } }, {}],
    [
      'partial refunds',
      { refunds: { data: [second, first] } },
      {
        partialRefunds: [
          { id: 're_1', date: refundDates.re_1, amountMicros: 1_000_000 },
          { id: 're_2', date: refundDates.re_2, amountMicros: 2_000_000 },
        ],
      },
    ],
    [
      'a refund of the rest after a partial refund',
      { refunded: true, refunds: { data: [second, first] } },
      {
        partialRefunds: [{ id: 're_1', date: refundDates.re_1, amountMicros: 1_000_000 }],
        refundedAt: refundDates.re_2,
      },
    ],
    [
      'two refunds of a whole payment in one second, the later one first',
      { refunded: true, refunds: { data: [second, { ...first, created: refundedAt }] } },
      {
        partialRefunds: [{ id: 're_1', date: refundDates.re_2, amountMicros: 1_000_000 }],
        refundedAt: refundDates.re_2,
      },
    ],
    [
      'a failed refund after a full refund',
      { refunded: true, refunds: { data: [{ ...second, status: 'failed' }, first] } },
      {
        refundedAt: refundDates.re_1,
        partialRefunds: [{ id: 're_2', date: refundDates.re_2, amountMicros: 2_000_000, status: 'returned' }],
      },
    ],
    ['a pending partial refund', { refunds: { data: [{ ...first, status: 'pending' }] } }, {}],
  ])('maps %s of a payment', (_title, charge, expected) => {
    const { purchase, transactions } = observe({}, { charges: [givenCharge(charge)] });
    const [{ refundedAt: at, partialRefunds } = {}] = transactions;
    expect({ refundedAt: at, partialRefunds }).toEqual({
      refundedAt: undefined,
      partialRefunds: undefined,
      ...expected,
    });
    expect(purchase.endedAt).toBe(at);
  });

  it('keeps the purchase if an earlier payment was refunded', () => {
    const earlier = givenInvoice({
      id: 'in_2',
      created: startSeconds,
      payments: { data: [{ payment: { charge: 'ch_2' } }] },
    });
    const charges = [givenCharge(), givenCharge({ ...refunded, id: 'ch_2', payment_intent: null })];
    const { purchase, transactions } = observe({}, { invoices: [givenInvoice(), earlier], charges });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions.map(({ transactionId, refundedAt: at }) => [transactionId, at])).toEqual([
      ['processor_a:in_2', refundedAt * 1000],
      ['processor_a:in_3', undefined],
    ]);
  });

  it.each([
    ['lost', { endedAt: refundedAt * 1000, cancelationReason: 'System' }],
    ['won', {}],
    ['under_review', {}],
  ])('maps a dispute with the status %s', (status, expected) => {
    const disputes = [givenDispute({ status, created: refundedAt })];
    const { purchase } = observe({}, { charges: [givenCharge({ disputed: true })], disputes });
    expect({ endedAt: purchase.endedAt, cancelationReason: purchase.cancelationReason }).toEqual({
      endedAt: undefined,
      cancelationReason: undefined,
      ...expected,
    });
  });
});
