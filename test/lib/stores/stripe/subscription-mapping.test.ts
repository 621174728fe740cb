import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import { parse } from '../../../../lib/foundation/parse.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import { findScheduledEnd } from '../../../../lib/stores/stripe/access-end.ts';
import {
  type Charge,
  type Dispute,
  type Refund,
  type Subscription,
  SubscriptionSchedule,
} from '../../../../lib/stores/stripe/payloads.ts';
import { toChargeObservation } from '../../../../lib/stores/stripe/payment-observation.ts';
import { indexCharges } from '../../../../lib/stores/stripe/payment-reversals.ts';
import {
  context,
  givenCharge,
  givenDispute,
  givenEarlierInvoice,
  givenInvoice,
  givenLines,
  givenOpenInvoice,
  givenRefund,
  givenSubscription,
  now,
  observe,
  periodEnd,
  periodStart,
  startSeconds,
} from './stripe-fixtures.ts';

type State = Partial<v.InferInput<typeof Subscription>>;
type Billing = Parameters<typeof observe>[1];
const unpaidPeriod: Billing = { invoices: [givenEarlierInvoice(), givenOpenInvoice()] };

const active: Partial<Purchase> = {
  purchaseId: 'processor_a:sub_1',
  transactionId: 'processor_a:in_3',
  productId: 'processor_a:prod_basic',
  offerId: 'processor_a:prod_basic#price_month',
  platform: 'processor_a',
  productType: 'paid subscription',
  sandbox: false,
  purchaseDate: startSeconds * 1000,
  lastRenewalDate: periodStart * 1000,
  expirationDate: periodEnd * 1000,
  renewalIntent: 'Renew',
  isBillingRetryPeriod: false,
  isTrialPeriod: false,
  currency: 'USD',
  quantity: 2,
};

const refundedAt = periodStart + 900;
const refunded = givenCharge({ refunded: true, refunds: { data: [givenRefund({ created: refundedAt })] } });

/** The coupon is not expanded: Stripe expands four levels. */
const itemDiscount = { end: periodEnd, promotion_code: null, source: { coupon: 'launch' } };

describe('toSubscriptionObservations', () => {
  it('maps all fields of an active subscription and no others', () => {
    expect(observe().purchase).toEqual(active);
  });

  it.each<[string, State, Partial<Purchase>, (keyof Purchase)[], Billing?]>([
    ['of test mode', { livemode: false }, { sandbox: true }, []],
    [
      'that is trialing',
      { status: 'trialing', start_date: periodStart, trial_end: periodEnd },
      { isTrialPeriod: true, expirationDate: periodEnd * 1000 },
      [],
    ],
    ['that is incomplete', { status: 'incomplete' }, { isPending: true }, []],
    [
      'that is incomplete_expired',
      { status: 'incomplete_expired', ended_at: startSeconds + 86_400 },
      {
        isAbandoned: true,
        expirationDate: (startSeconds + 86_400) * 1000,
        renewalIntent: 'Lapse',
        cancelationReason: 'System.BillingError',
      },
      ['isPending'],
    ],
    [
      'that has ended on a test clock ahead of the service',
      { status: 'canceled', ended_at: now / 1000 + 86_400 },
      { expirationDate: now, renewalIntent: 'Lapse', cancelationReason: 'Unknown' },
      [],
    ],
    [
      'that is paused on a test clock ahead of the service',
      { status: 'paused', trial_end: now / 1000 + 86_400 },
      { expirationDate: now, isPaused: true, cancelationReason: 'PAUSED' },
      [],
    ],
    [
      'that is past due with an unpaid current period, after its grace period',
      { status: 'past_due' },
      {
        isBillingRetryPeriod: true,
        expirationDate: periodStart * 1000 + 7 * dayMs,
        renewalIntent: 'Renew',
        cancelationReason: 'System.BillingError',
      },
      [],
      unpaidPeriod,
    ],
    [
      'that is unpaid',
      { status: 'unpaid' },
      {
        expirationDate: periodStart * 1000 + 7 * dayMs,
        cancelationReason: 'System.BillingError',
        isBillingRetryPeriod: false,
      },
      [],
      unpaidPeriod,
    ],
    [
      'that cancels at the end of the period',
      { cancel_at_period_end: true, cancel_at: periodEnd, canceled_at: startSeconds },
      { renewalIntent: 'Lapse', renewalIntentChangeDate: startSeconds * 1000, expirationDate: periodEnd * 1000 },
      ['cancelationReason'],
    ],
    [
      'that cancels before the end of the period',
      { cancel_at: periodStart + 10 },
      { renewalIntent: 'Lapse', expirationDate: (periodStart + 10) * 1000 },
      [],
    ],
    [
      'that cancels after the end of the period',
      { cancel_at: periodEnd + 10 },
      { renewalIntent: 'Renew', expirationDate: periodEnd * 1000 },
      [],
    ],
    [
      'that is paused after its trial',
      { status: 'paused', trial_end: periodStart },
      { isPaused: true, cancelationReason: 'PAUSED', expirationDate: periodStart * 1000, renewalIntent: 'Renew' },
      ['autoResumeDate'],
    ],
    [
      'that is paused after the refund of its latest payment',
      { status: 'paused' },
      { endedAt: refundedAt * 1000, cancelationReason: 'Customer' },
      ['isPaused'],
      { charges: [refunded] },
    ],
    [
      'that is paused after a lost dispute of its latest payment',
      { status: 'paused' },
      { cancelationReason: 'System' },
      ['isPaused'],
      { charges: [givenCharge()], disputes: [givenDispute({ status: 'lost' })] },
    ],
    [
      'with a limited discount',
      {
        discounts: [
          { end: periodEnd, promotion_code: 'promo_1', source: { coupon: { id: 'half', duration: 'repeating' } } },
        ],
      },
      { discountId: 'promo_1', isIntroPeriod: true },
      [],
    ],
    [
      'with an expired discount',
      {
        discounts: [
          { end: periodStart, promotion_code: null, source: { coupon: { id: 'half', duration: 'repeating' } } },
        ],
      },
      { discountId: 'half' },
      ['isIntroPeriod'],
    ],
    [
      'with an unlimited discount',
      { discounts: [{ end: null, promotion_code: null, source: { coupon: { id: 'friend', duration: 'forever' } } }] },
      { discountId: 'friend' },
      ['isIntroPeriod'],
    ],
    [
      'with a discount of its item before one of the subscription',
      {
        items: { data: givenSubscription().items.data.map((item) => ({ ...item, discounts: [itemDiscount] })) },
        discounts: [{ end: null, promotion_code: null, source: { coupon: { id: 'friend', duration: 'forever' } } }],
      },
      { discountId: 'launch', isIntroPeriod: true },
      [],
    ],
    [
      'with an unknown status',
      { status: 'hibernating' },
      { expirationDate: periodEnd * 1000 },
      ['cancelationReason', 'isPaused'],
    ],
  ])('maps a subscription %s', (_title, state, expected, absent, billing = {}) => {
    const { purchase } = observe(state, billing);
    expect(purchase).toMatchObject(expected);
    for (const field of absent) expect(purchase).not.toHaveProperty(field);
  });

  const monthBefore = Date.parse('2027-02-01T00:00:00Z') / 1000;
  it.each<[string, readonly string[], number | undefined]>([
    ['in its first period', ['subscription_create'], undefined],
    ['after a renewal', ['subscription_create', 'subscription_cycle'], periodStart],
    ['after a plan change', ['subscription_create', 'subscription_update'], undefined],
    ['after a renewal and a plan change', ['subscription_cycle', 'subscription_update'], monthBefore],
  ])('returns the start of the last renewed period of a subscription %s', (_title, billingReasons, start) => {
    const invoices = billingReasons.map((billing_reason, index) => {
      const created = index === 0 ? monthBefore : periodStart;
      const { lines } = givenInvoice();
      const data = lines.data.map((line) => ({ ...line, period: { start: created, end: periodEnd } }));
      return givenInvoice({ id: `in_${index}`, billing_reason, created, lines: { data } });
    });
    expect(observe({}, { invoices }).purchase.lastRenewalDate).toBe(start && start * 1000);
  });

  it('does not report a renewal of an unpaid period', () => {
    const invoices = [givenInvoice({ billing_reason: 'subscription_create' }), givenInvoice({ status: 'open' })];
    expect(observe({ status: 'past_due' }, { invoices }).purchase).not.toHaveProperty('lastRenewalDate');
  });

  it('returns the user alias and the refresh token', () => {
    expect(observe()).toMatchObject({ asOf: now, userAliases: ['customer'], refreshToken: { id: 'sub_1' } });
  });

  it('rejects a subscription that belongs to a different app', () => {
    expect(() => observe({ metadata: { app: 'another' } })).toThrow('another app');
  });

  it('uses the platform of the account', () => {
    const observation = observe({}, { mapping: { ...context, platform: 'service_processor_a' } });
    expect(observation.purchase).toMatchObject({
      platform: 'service_processor_a',
      purchaseId: 'service_processor_a:sub_1',
      offerId: 'service_processor_a:prod_basic#price_month',
    });
    expect(observation.transactions[0]?.transactionId).toBe('service_processor_a:in_3');
  });
});

describe('findScheduledEnd', () => {
  const phases = [{ end_date: periodStart }, { end_date: periodEnd }];
  it.each<[number | null, object]>([
    [periodEnd, {}],
    [null, { end_behavior: 'release' }],
    [null, { status: 'released' }],
    [null, { status: 'not_started' }],
    [null, { phases: [] }],
  ])('returns %p for a schedule with %j', (expected, state) => {
    const schedule = parse(SubscriptionSchedule, { status: 'active', end_behavior: 'cancel', phases, ...state });
    expect(findScheduledEnd(schedule)).toBe(expected);
  });
});

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
      {
        refunded: true,
        refunds: {
          data: [
            { ...second, status: 'failed' },
            { ...first, amount: 998 },
          ],
        },
      },
      {
        refundedAt: refundDates.re_1,
        partialRefunds: [{ id: 're_2', date: refundDates.re_2, amountMicros: 2_000_000, status: 'returned' }],
      },
    ],
    [
      'a full refund that failed, although the charge is still marked as refunded',
      { refunded: true, refunds: { data: [{ ...first, amount: 998, status: 'failed' }] } },
      {
        partialRefunds: [{ id: 're_1', date: refundDates.re_1, amountMicros: 9_980_000, status: 'returned' }],
      },
    ],
    [
      'a refund of the rest that failed, although the charge is still marked as refunded',
      { refunded: true, refunds: { data: [{ ...second, amount: 898, status: 'failed' }, first] } },
      {
        partialRefunds: [
          { id: 're_1', date: refundDates.re_1, amountMicros: 1_000_000 },
          { id: 're_2', date: refundDates.re_2, amountMicros: 8_980_000, status: 'returned' },
        ],
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

  const toSeconds = (day: number): number => periodStart + day * 86_400;
  const refundOf = (amount: number, day: number) => givenRefund({ amount, created: toSeconds(day) });
  const disputeOf = (amount: number, day: number, status = 'lost') =>
    givenDispute({
      amount,
      status,
      created: toSeconds(day),
      balance_transactions: [{ amount: -amount, created: toSeconds(day) }],
    });
  it.each<[string, Refund, Dispute, object]>([
    ['is open after a full refund', refundOf(998, 2), disputeOf(998, 5, 'needs_response'), { refunds: [[2, 998]] }],
    ['is lost after a full refund', refundOf(998, 2), disputeOf(998, 5), { refunds: [[2, 998]] }],
    [
      'is lost before the refund of the rest',
      refundOf(598, 8),
      disputeOf(400, 5),
      {
        ended: 8,
        refunds: [
          [5, 400],
          [8, 598],
        ],
      },
    ],
    [
      'is lost that was an inquiry when a part was refunded',
      refundOf(400, 2),
      { ...disputeOf(998, 5), created: toSeconds(1) },
      {
        ended: 5,
        reason: 'System',
        refunds: [
          [2, 400],
          [5, 598],
        ],
      },
    ],
    [
      'is lost after a partial refund',
      refundOf(400, 2),
      disputeOf(998, 5),
      {
        ended: 5,
        reason: 'System',
        refunds: [
          [2, 400],
          [5, 598],
        ],
      },
    ],
  ])('keeps the dates of the end and of the refunds if a dispute %s', (_title, refund, dispute, expected) => {
    const charge = givenCharge({ refunded: refund.amount === 998, refunds: { data: [refund] } });
    const { purchase, transactions } = observe({}, { charges: [charge], disputes: [dispute] });
    const toDay = (date = 0): number => (date / 1000 - periodStart) / 86_400;
    const amounts = transactions.flatMap(listRefundedAmounts).filter(({ amountMicros }) => amountMicros !== 0);
    expect({
      ended: toDay(purchase.endedAt),
      reason: purchase.cancelationReason,
      refunds: amounts.map(({ date, amountMicros = 0 }) => [toDay(date), amountMicros / 10_000]).sort(),
    }).toEqual({ ended: 2, reason: 'Customer', ...expected });
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

const card = { payment_method_details: { card: { country: 'FR' } } };
const billing = { billing_details: { address: { country: 'AT' } } };

describe('toSubscriptionObservations: country', () => {
  it.each([
    ['the address of the invoice', { customer_address: { country: 'DE' } }, { ...card, ...billing }, 'DE'],
    ['the billing address of the charge', { customer_address: { country: null } }, { ...card, ...billing }, 'AT'],
    ['the card of the charge', {}, card, 'FR'],
    ['no source', {}, {}, undefined],
  ])('uses the country of %s', (_source, invoice, charge, expected) => {
    const { transactions } = observe({}, { invoices: [givenInvoice(invoice)], charges: [givenCharge(charge)] });
    expect(transactions[0]?.storefront).toBe(expected);
  });
});

describe('toChargeObservation: country', () => {
  it('uses the country of the card', () => {
    const charge = givenCharge({ ...card, metadata: { productId: 'prod_basic' } });
    const observation = toChargeObservation(charge, {
      mapping: context,
      ...indexCharges([charge]),
      products: new Map(),
    });
    expect(observation?.transactions[0]?.storefront).toBe('FR');
  });
});

describe('toSubscriptionObservations: offer', () => {
  const [line] = givenInvoice().lines.data;

  it('uses the discount of an invoice', () => {
    const invoice = givenInvoice({ lines: { data: [{ ...line, discount_amounts: [{ amount: 100 }] }] } as never });
    expect(observe({}, { invoices: [invoice] }).transactions[0]).toMatchObject({ offerType: 'discount' });
  });

  it('uses the trial of an invoice without amount, with its length', () => {
    const end = line?.period.end ?? 0;
    const trial = givenInvoice({ amount_paid: 0, lines: givenLines({ amount: 0 }) });
    const { transactions } = observe({ status: 'trialing', trial_end: end }, { invoices: [trial] });
    expect(transactions[0]).toMatchObject({ isTrialPeriod: true, offerType: 'trial', offerPeriod: 'P31D' });
  });
});
