import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import type { Subscription } from '../../../../lib/stores/stripe/payloads.ts';
import {
  context,
  givenEarlierInvoice,
  givenInvoice,
  givenOpenInvoice,
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
