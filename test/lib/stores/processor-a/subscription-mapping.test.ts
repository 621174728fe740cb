import { expect, it, test } from '@jest/globals';
import type * as v from 'valibot';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import type { Subscription } from '../../../../lib/stores/processor-a/payloads.ts';
import { indexReversals } from '../../../../lib/stores/processor-a/payment-reversals.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/processor-a/subscription-observation.ts';
import { dayMs } from '../../../../testing/given.ts';
import {
  bought,
  givenCharge,
  givenInvoice,
  givenSubscription,
  now,
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

const active: Partial<Purchase> = {
  purchaseId: 'processor_a:sub_1',
  transactionId: 'processor_a:in_3',
  productId: 'processor_a:prod_basic',
  offerId: 'processor_a:prod_basic#price_month',
  platform: 'processor_a',
  productType: 'paid subscription',
  sandbox: false,
  purchaseDate: bought * 1000,
  lastRenewalDate: periodStart * 1000,
  expirationDate: periodEnd * 1000,
  renewalIntent: 'Renew',
  isBillingRetryPeriod: false,
  isTrialPeriod: false,
  currency: 'USD',
  quantity: 2,
};

it('maps every field of an active subscription, and no other', () => {
  expect(look().purchase).toEqual(active);
});

test.each<[string, State, Partial<Purchase>, (keyof Purchase)[]]>([
  [
    'a first period has no renewal',
    { start_date: periodStart },
    { purchaseDate: periodStart * 1000 },
    ['lastRenewalDate'],
  ],
  ['test mode is the sandbox', { livemode: false }, { sandbox: true }, []],
  [
    'trialing',
    { status: 'trialing', start_date: periodStart, trial_end: periodEnd },
    { isTrialPeriod: true, expirationDate: periodEnd * 1000 },
    ['lastRenewalDate'],
  ],
  ['incomplete', { status: 'incomplete' }, { isPending: true }, []],
  [
    'incomplete for too long',
    { status: 'incomplete_expired', ended_at: bought + 86_400 },
    {
      isAbandoned: true,
      expirationDate: (bought + 86_400) * 1000,
      renewalIntent: 'Lapse',
      cancelationReason: 'System.BillingError',
    },
    ['isPending'],
  ],
  [
    'past due: the period that has begun is not paid',
    { status: 'past_due' },
    { isBillingRetryPeriod: true, expirationDate: periodStart * 1000 + 7 * dayMs, renewalIntent: 'Renew' },
    ['cancelationReason'],
  ],
  [
    'past due by a change of plan: the period before it is paid',
    {
      status: 'past_due',
      latest_invoice: givenInvoice({
        id: 'in_4',
        status: 'open',
        created: periodStart + 864_000,
        billing_reason: 'subscription_update',
      }),
    },
    {
      isBillingRetryPeriod: true,
      expirationDate: (periodStart + 864_000) * 1000 + 7 * dayMs,
      transactionId: 'processor_a:in_3',
    },
    [],
  ],
  [
    'unpaid',
    { status: 'unpaid' },
    { expirationDate: periodStart * 1000, cancelationReason: 'System.BillingError', isBillingRetryPeriod: false },
    [],
  ],
  [
    'about to end with the period',
    { cancel_at_period_end: true, cancel_at: periodEnd, canceled_at: bought },
    { renewalIntent: 'Lapse', renewalIntentChangeDate: bought * 1000, expirationDate: periodEnd * 1000 },
    ['cancelationReason'],
  ],
  [
    'about to end before',
    { cancel_at: periodStart + 10 },
    { renewalIntent: 'Lapse', expirationDate: (periodStart + 10) * 1000 },
    [],
  ],
  [
    'about to end later',
    { cancel_at: periodEnd + 10 },
    { renewalIntent: 'Lapse', expirationDate: periodEnd * 1000 },
    [],
  ],
  [
    'paused after its trial',
    { status: 'paused', trial_end: periodStart },
    { isPaused: true, cancelationReason: 'PAUSED', expirationDate: periodStart * 1000, renewalIntent: 'Renew' },
    ['autoResumeDate'],
  ],
  [
    'with paused payments',
    { pause_collection: { resumes_at: periodEnd } },
    {
      isPaused: true,
      cancelationReason: 'PAUSED',
      expirationDate: periodStart * 1000,
      autoResumeDate: periodEnd * 1000,
      renewalIntent: 'Renew',
    },
    [],
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
    'with a discount that has ended',
    {
      discounts: [
        { end: periodStart, promotion_code: null, source: { coupon: { id: 'half', duration: 'repeating' } } },
      ],
    },
    { discountId: 'half' },
    ['isIntroPeriod'],
  ],
  [
    'with a discount for ever',
    { discounts: [{ end: null, promotion_code: null, source: { coupon: { id: 'friend', duration: 'forever' } } }] },
    { discountId: 'friend' },
    ['isIntroPeriod'],
  ],
  [
    'of a state that nobody knows yet',
    { status: 'hibernating' },
    { expirationDate: periodEnd * 1000 },
    ['cancelationReason', 'isPaused'],
  ],
])('%s', (_title, state, expected, absent) => {
  const { purchase } = look(state);
  expect(purchase).toMatchObject(expected);
  for (const field of absent) expect(purchase).not.toHaveProperty(field);
});

it('knows its user and how to be asked again', () => {
  expect(look()).toMatchObject({ asOf: now, userTokens: ['buyer'], refreshToken: { id: 'sub_1' } });
});

it('is refused when it was sold for another application', () => {
  expect(() => look({ metadata: { app: 'another' } })).toThrow('another application');
});

it('carries the platform of the account that sold it', () => {
  const service = { ...origin, platform: 'service_processor_a' as const };
  const observation = toSubscriptionObservation(givenSubscription(), {
    origin: service,
    invoices: [givenInvoice()],
    takebacks: new Map(),
  });
  expect(observation.purchase).toMatchObject({
    platform: 'service_processor_a',
    purchaseId: 'service_processor_a:sub_1',
    offerId: 'service_processor_a:prod_basic#price_month',
  });
  expect(observation.transactions[0]?.transactionId).toBe('service_processor_a:in_3');
});
