import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type * as v from 'valibot';
import { addDays } from '../../../../lib/foundation/calendar.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { getDayEnd, isTimeZone, westernmostTimeZone } from '../../../../lib/stores/braintree/gateway-day.ts';
import type { MappingContext } from '../../../../lib/stores/braintree/mapping-context.ts';
import { toDecimalAmount } from '../../../../lib/stores/braintree/money.ts';
import { toNotificationReason } from '../../../../lib/stores/braintree/notification-reason.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from '../../../../lib/stores/braintree/payloads.ts';
import { toPaymentObservations } from '../../../../lib/stores/braintree/payment-observation.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/braintree/subscription-observation.ts';
import { officialKinds } from './official-client.ts';

const now = Date.parse('2027-03-10T12:00:00Z');
const context: MappingContext = {
  productId: 'monthly',
  productTypes: { monthly: 'paid subscription' },
  customerId: 'customer',
  sandbox: false,
  timeZone: 'America/Chicago',
  graceMs: 7 * dayMs,
  asOf: now,
};

/** Maps a payment of one product. */
function toPaymentObservation(...input: Parameters<typeof toPaymentObservations>): Observation {
  const [observation] = toPaymentObservations(...input);
  if (!observation) throw new Error('The observation is missing.');
  return observation;
}

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

/** A monthly subscription in its third period, with the members of `state` replaced. */
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

const buildHistory = (...statuses: string[]) =>
  statuses.map((status, index) => ({ status, timestamp: `2027-03-0${9 - index}T00:00:00Z` }));
/** Braintree does not move `paidThroughDate` without a transaction. */
const skippedBilling = { billingPeriodStartDate: '2027-04-01', billingPeriodEndDate: '2027-04-30' };
const trial = {
  trialPeriod: true,
  currentBillingCycle: 0,
  paidThroughDate: null,
  billingPeriodStartDate: null,
  transactions: [],
};

describe('toSubscriptionObservation (Braintree)', () => {
  it.each<[string, Partial<v.InferInput<typeof Subscription>>, Partial<Purchase>]>([
    ['that is Active', {}, { renewalIntent: 'Renew', expirationDate: Date.parse('2027-04-02T05:00:00Z') }],
    [
      'in its second period',
      { transactions: [givenPayment(), givenPayment({ id: 'pay0', createdAt: '2027-02-01T09:00:00Z' })] },
      { purchaseDate: Date.parse('2027-02-01T09:00:00Z'), lastRenewalDate: Date.parse('2027-03-01T08:00:00Z') },
    ],
    [
      'in its last cycle',
      { neverExpires: false, numberOfBillingCycles: 3 },
      { renewalIntent: 'Lapse', expirationDate: Date.parse('2027-04-01T05:00:00Z') },
    ],
    ['before its last cycle', { neverExpires: false, numberOfBillingCycles: 4 }, { renewalIntent: 'Renew' }],
    [
      'that is Past Due',
      { status: 'Past Due' },
      { isBillingRetryPeriod: true, expirationDate: Date.parse('2027-04-08T05:00:00Z') },
    ],
    [
      'in a period that the balance covers',
      skippedBilling,
      { renewalIntent: 'Renew', expirationDate: Date.parse('2027-05-02T05:00:00Z') },
    ],
    [
      'in a period that the balance covers, after a trial',
      { ...skippedBilling, trialPeriod: true },
      { renewalIntent: 'Renew', expirationDate: Date.parse('2027-05-02T05:00:00Z') },
    ],
    [
      'that is Canceled in a period that the balance covers',
      { ...skippedBilling, status: 'Canceled', statusHistory: buildHistory('Canceled', 'Active') },
      { renewalIntent: 'Lapse', expirationDate: Date.parse('2027-05-01T05:00:00Z') },
    ],
    [
      'that is Past Due in a period without a payment',
      { ...skippedBilling, status: 'Past Due' },
      { isBillingRetryPeriod: true, expirationDate: Date.parse('2027-04-08T05:00:00Z') },
    ],
    [
      'that is Canceled while past due in a period without a payment',
      { ...skippedBilling, status: 'Canceled', statusHistory: buildHistory('Canceled', 'Past Due', 'Active') },
      { cancelationReason: 'System.BillingError', expirationDate: Date.parse('2027-04-01T05:00:00Z') },
    ],
    ['that is Pending', { status: 'Pending' }, { isPending: true }],
    ['that is Expired', { status: 'Expired' }, { renewalIntent: 'Lapse' }],
    [
      'that is Canceled',
      { status: 'Canceled', statusHistory: buildHistory('Canceled', 'Active') },
      {
        renewalIntent: 'Lapse',
        cancelationReason: 'Customer',
        renewalIntentChangeDate: Date.parse('2027-03-09'),
        expirationDate: Date.parse('2027-04-01T05:00:00Z'),
      },
    ],
    [
      'that is Canceled while past due',
      { status: 'Canceled', statusHistory: buildHistory('Canceled', 'Past Due', 'Active') },
      { cancelationReason: 'System.BillingError' },
    ],
    [
      'in trial',
      { ...trial, firstBillingDate: '2027-03-15' },
      {
        isTrialPeriod: true,
        purchaseDate: Date.parse('2027-01-01T08:00:00Z'),
        expirationDate: Date.parse('2027-03-16T05:00:00Z'),
      },
    ],
    ['with a discount', { discounts: [{ id: 'summer' }] }, { discountId: 'summer' }],
    [
      'with a payment',
      {},
      { transactionId: 'processor_b:pay1', currency: 'EUR', amountMicros: 9_990_000, sandbox: false },
    ],
  ])('maps a subscription %s', (_state, input, expected) => {
    expect(toSubscriptionObservation(givenSubscription(input), [], context).purchase).toMatchObject(expected);
  });

  it('omits the members of other states', () => {
    const { purchase } = toSubscriptionObservation(givenSubscription(), [], context);
    for (const field of ['isPending', 'isTrialPeriod', 'isBillingRetryPeriod', 'cancelationReason', 'discountId'])
      expect(purchase).not.toHaveProperty(field);
  });

  it('ignores a declined payment', () => {
    const declined = givenPayment({ id: 'pay2', status: 'processor_declined', createdAt: '2027-03-05T08:00:00Z' });
    const observation = toSubscriptionObservation(
      givenSubscription({ transactions: [declined, givenPayment()] }),
      [],
      context,
    );
    expect(observation.transactions.map(({ transactionId }) => transactionId)).toEqual(['processor_b:pay1']);
  });
});

describe('country and offer of a payment (Braintree)', () => {
  const creditCard = { countryOfIssuance: 'FRA' };
  it.each([
    ['the billing address', { billing: { countryCodeAlpha2: 'DE' }, creditCard }, 'DE'],
    ['the card', { billing: null, creditCard }, 'FRA'],
    ['a card in a wallet', { creditCard: null, applePayCard: creditCard }, 'FRA'],
    ['no source', { creditCard: { countryOfIssuance: 'Unknown' } }, undefined],
  ])('names the country of %s', (_source, state, expected) => {
    const { purchase, transactions } = toPaymentObservation(givenPayment(state), [], context);
    expect(transactions[0]?.storefront).toBe(expected);
    expect(purchase).not.toHaveProperty('storefront');
  });

  it('ends a trial with a period that a discount pays', () => {
    const state = { ...skippedBilling, trialPeriod: true, transactions: [] };
    const { purchase } = toSubscriptionObservation(givenSubscription(state), [], context);
    expect(purchase).not.toHaveProperty('isTrialPeriod');
  });

  it('names a discount, and a trial with its length', () => {
    const discounted = toPaymentObservation(givenPayment({ discounts: [{ id: 'summer' }] }), [], context);
    expect(discounted.transactions[0]).toMatchObject({ offerType: 'discount' });
    const inTrial = givenSubscription({ ...trial, trialDuration: 7, trialDurationUnit: 'day' });
    expect(toSubscriptionObservation(inTrial, [], context).transactions[0]).toMatchObject({
      offerType: 'trial',
      offerPeriod: 'P7D',
    });
  });
});

describe('toPaymentObservations (Braintree)', () => {
  it('maps each product of a cart to a purchase with its price and its part of a refund', () => {
    const items = [
      { productId: 'tip', quantity: 2, amountMicros: 4_000_000 },
      { productId: 'full', quantity: 1, amountMicros: 5_990_000 },
    ];
    const refund = givenPayment({ id: 'ref1', type: 'credit', amount: '1.00' });
    const cart = { ...context, productId: 'tip', productTypes: { full: 'non consumable' as const }, items };
    const observations = toPaymentObservations(givenPayment({ refundIds: ['ref1'] }), [refund], cart);
    expect(observations).toMatchObject([
      {
        purchase: { purchaseId: 'processor_b:pay1', productId: 'processor_b:tip', quantity: 2 },
        transactions: [
          { transactionId: 'processor_b:pay1', amountMicros: 4_000_000, partialRefunds: [{ amountMicros: 400_000 }] },
        ],
      },
      {
        purchase: {
          purchaseId: 'processor_b:pay1:full',
          productId: 'processor_b:full',
          productType: 'non consumable',
        },
        transactions: [
          {
            transactionId: 'processor_b:pay1:full',
            amountMicros: 5_990_000,
            partialRefunds: [{ amountMicros: 600_000 }],
          },
        ],
      },
    ]);
    const voided = toPaymentObservations(givenPayment({ status: 'voided' }), [], cart);
    expect(voided.map(({ purchase }) => purchase.endedAt)).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it.each(['authorized', 'authorizing', 'submitted_for_settlement', 'settling', 'settled', 'settlement_confirmed'])(
    'maps the status %s to a paid purchase',
    (status) => {
      const { purchase, transactions } = toPaymentObservation(givenPayment({ status }), [], context);
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
    ['unknown_status', { endedAt: expect.any(Number) as unknown as number }],
  ])('maps the status %s', (status, expected) => {
    expect(toPaymentObservation(givenPayment({ status }), [], context).purchase).toMatchObject(expected);
  });

  it.each([
    ['ends', 'full', '9.99', true],
    ['keeps', 'partial', '5.00', false],
  ])('%s the purchase after a %s refund', (_effect, _kind, amount, isEnded) => {
    const refund = givenPayment({ id: 'ref1', type: 'credit', amount, createdAt: '2027-03-08T00:00:00Z' });
    const { purchase } = toPaymentObservation(givenPayment({ refundIds: ['ref1'] }), [refund], context);
    expect(purchase.endedAt).toBe(isEnded ? Date.parse('2027-03-08') : undefined);
  });
});

const timeZones = [
  westernmostTimeZone,
  'UTC',
  'America/Chicago',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
];
const arbitraryDay = fc
  .integer({ min: 0, max: 20_000 })
  .map((days) => new Date(Date.parse('2000-01-01') + days * dayMs).toISOString().slice(0, 10));

/** Formats the calendar day of a time in a time zone. */
const formatDay = (at: number, timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);

describe('getDayEnd', () => {
  it('returns the first time of the following day in the time zone', () => {
    fc.assert(
      fc.property(arbitraryDay, fc.constantFrom(...timeZones), (day, timeZone) => {
        const end = getDayEnd(day, timeZone);
        expect([formatDay(end - 1, timeZone), formatDay(end, timeZone)]).toEqual([day, addDays(day, 1)]);
      }),
    );
  });

  it('returns the latest time in the westernmost time zone', () => {
    fc.assert(
      fc.property(arbitraryDay, fc.constantFrom(...Intl.supportedValuesOf('timeZone')), (day, timeZone) => {
        expect(getDayEnd(day, timeZone)).toBeLessThanOrEqual(getDayEnd(day, westernmostTimeZone));
      }),
    );
  });
});

describe('isTimeZone', () => {
  it('accepts IANA time zones only', () => {
    expect(['America/Chicago', 'Etc/GMT+12', 'Mars', 'GMT-5 or so', ''].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

const at = Date.parse('2027-02-10T12:00:00Z');

describe('toNotificationReason (Braintree)', () => {
  it.each([
    ['subscription_went_active', {}, 'PURCHASED'],
    ['subscription_charged_successfully', { currentBillingCycle: 1 }, 'PURCHASED'],
    ['subscription_charged_successfully', { currentBillingCycle: 2 }, 'RENEWED'],
    ['subscription_charged_successfully', {}, 'RENEWED'],
    ['subscription_charged_unsuccessfully', {}, 'ENTERED_GRACE_PERIOD'],
    ['subscription_went_past_due', {}, 'ENTERED_GRACE_PERIOD'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-11') + dayMs }, 'WILL_LAPSE'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-10') + dayMs }, 'WILL_LAPSE'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-09') + dayMs }, 'EXPIRED'],
    ['subscription_canceled', {}, 'EXPIRED'],
    ['subscription_expired', {}, 'EXPIRED'],
    ['subscription_trial_ended', {}, 'OTHER'],
    ['subscription_billing_skipped', {}, 'OTHER'],
    ['transaction_settlement_declined', {}, 'REVOKED'],
    ['transaction_settled', {}, 'OTHER'],
    ['transaction_disbursed', {}, 'OTHER'],
    ['transaction_reviewed', {}, 'OTHER'],
    ['transaction_retried', {}, 'OTHER'],
    ['dispute_lost', {}, 'REVOKED'],
    ['dispute_accepted', {}, 'REVOKED'],
    ['dispute_auto_accepted', {}, 'REVOKED'],
    ['dispute_expired', {}, 'REVOKED'],
    ['dispute_opened', {}, 'OTHER'],
    ['dispute_won', {}, 'OTHER'],
    ['dispute_disputed', {}, 'OTHER'],
    ['dispute_under_review', {}, 'OTHER'],
    ['local_payment_completed', {}, 'OTHER'],
    ['local_payment_funded', {}, 'OTHER'],
    ['local_payment_reversed', {}, 'OTHER'],
    ['local_payment_expired', {}, 'OTHER'],
    ['refund_failed', {}, 'OTHER'],
    ['disbursement', {}, 'OTHER'],
    ['check', {}, 'TEST'],
    ['unknown_kind', {}, 'OTHER'],
    ['constructor', {}, 'OTHER'],
  ])('maps %s with %j to %s', (kind, facts, reason) => {
    expect(toNotificationReason({ kind, at, ...facts })).toBe(reason);
  });

  it('maps all kinds of the official client that do not concern a purchase to OTHER', () => {
    const otherKinds = officialKinds.filter(
      (kind) => !/^(?:subscription|transaction|dispute|local|refund|check)/.test(kind),
    );
    expect(otherKinds.length).toBeGreaterThan(10);
    for (const kind of otherKinds) expect(toNotificationReason({ kind, at })).toBe('OTHER');
  });
});

describe('toDecimalAmount (Braintree)', () => {
  it.each([
    ['USD', 4_990_000, '4.99'],
    ['HUF', 1_234_560_000, '1234.56'],
    ['IDR', 15_000_500_000, '15000.50'],
    ['JPY', 500_000_000, '500'],
    ['KWD', 1_250_000, '1.250'],
  ])('returns the decimals of %s', (currency, micros, amount) => {
    expect(toDecimalAmount(micros, currency)).toBe(amount);
  });
});
