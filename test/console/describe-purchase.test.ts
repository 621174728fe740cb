import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type DescribedPurchase,
  describePurchase,
  type PurchaseDescription,
} from '../../console/pages/purchase/describe-purchase.ts';
import { CancelationReason, PriceConsentStatus, RenewalIntent } from '../../lib/api/schemas.ts';
import type { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const iso = (text: string): string => `${text}T12:00:00.000Z`;

const subscription: DescribedPurchase = {
  purchaseId: 'store_a:1',
  transactionId: 'store_a:2',
  productId: 'store_a:premium',
  platform: 'store_a',
  purchaseDate: iso('2026-02-03'),
  expirationDate: iso('2026-03-03'),
  renewalIntent: 'Renew',
  isExpired: false,
  entitledUsers: ['alice'],
};
const ended = { ...subscription, isExpired: true, expirationDate: iso('2026-02-20'), renewalIntent: 'Lapse' } as const;
const { expirationDate: _end, isExpired: _expired, renewalIntent: _intent, ...oneOff } = subscription;

const payment: TransactionRecord = {
  transactionId: 'store_a:2',
  purchaseId: 'store_a:1',
  productId: 'store_a:premium',
  platform: 'store_a',
  sandbox: false,
  purchaseDate: iso('2026-02-03'),
  amountMicros: 4_990_000,
  amountUSD: 4.99,
  currency: 'USD',
};

const describeNow = (
  purchase: DescribedPurchase,
  transactions: readonly TransactionRecord[] = [],
): PurchaseDescription => describePurchase(purchase, { now, transactions });

const toText = ({ headline, remarks }: PurchaseDescription): string => [headline, ...remarks].join(' ');

type Case = readonly [name: string, purchase: DescribedPurchase, label: string, text: string];

const withAccess: readonly Case[] = [
  ['an active subscription', subscription, 'Active', 'Renews on March 3, 2026.'],
  [
    'a late renewal',
    { ...subscription, expirationDate: iso('2026-02-28') },
    'Active',
    'The renewal was due on February 28, 2026: the store has not reported it yet.',
  ],
  ['a trial', { ...subscription, isTrialPeriod: true }, 'Trial', 'Free trial until March 3, 2026, then renews.'],
  [
    'a canceled trial',
    { ...subscription, isTrialPeriod: true, renewalIntent: 'Lapse', renewalIntentChangeDate: iso('2026-02-10') },
    'Trial, canceled',
    'Canceled on February 10, 2026, but the free trial lasts until March 3, 2026: does not renew.',
  ],
  [
    'a canceled subscription',
    { ...subscription, renewalIntent: 'Lapse', renewalIntentChangeDate: iso('2026-02-10') },
    'Canceled',
    'Canceled on February 10, 2026, but paid until March 3, 2026: does not renew.',
  ],
  [
    'a grace period',
    {
      ...subscription,
      isBillingRetryPeriod: true,
      expirationDate: iso('2026-03-07'),
      notifications: [
        { date: iso('2026-01-03'), reason: 'ENTERED_GRACE_PERIOD' },
        { date: iso('2026-02-03'), reason: 'RENEWED' },
        { date: iso('2026-02-27'), reason: 'ENTERED_GRACE_PERIOD' },
      ],
    },
    'Grace period',
    'The payment failed on February 27, 2026: in grace until March 7, 2026.',
  ],
  [
    'two failures since the last payment',
    {
      ...subscription,
      isBillingRetryPeriod: true,
      expirationDate: iso('2026-03-07'),
      notifications: [
        { date: iso('2026-02-03'), reason: 'PURCHASED' },
        { date: iso('2026-02-24'), reason: 'ENTERED_GRACE_PERIOD' },
        { date: iso('2026-02-27'), reason: 'ENTERED_GRACE_PERIOD' },
      ],
    },
    'Grace period',
    'The payment failed twice, last on February 27, 2026: in grace until March 7, 2026.',
  ],
  [
    'a subscription without a renewal intent',
    { ...oneOff, isExpired: false, expirationDate: iso('2026-03-03') },
    'Active',
    'Paid until March 3, 2026: the store does not report whether it renews.',
  ],
  [
    'a subscription without an end',
    { ...oneOff, isExpired: false },
    'Active',
    'Active: the store does not report when the period ends.',
  ],
  ['a lifetime purchase', oneOff, 'Owned', 'Bought on February 3, 2026: access does not end.'],
];

const withoutAccess: readonly Case[] = [
  [
    'a pending payment',
    { ...oneOff, isPending: true, isExpired: true, entitledUsers: [] },
    'Payment pending',
    'The first payment, started on February 3, 2026, is pending: access begins when App Store reports that it is complete.',
  ],
  [
    'a pause with a date',
    { ...ended, isPaused: true, cancelationReason: 'PAUSED', autoResumeDate: iso('2026-05-01') },
    'Paused',
    'The customer paused the subscription until May 1, 2026: then it resumes and is paid again.',
  ],
  [
    'a pause without a date',
    { ...ended, isPaused: true, cancelationReason: 'PAUSED' },
    'Paused',
    'The customer paused the subscription, without a date on which it resumes.',
  ],
  [
    'a billing retry',
    { ...ended, isBillingRetryPeriod: true, cancelationReason: 'System.BillingError' },
    'Billing retry',
    'The payment failed, and access ended on February 20, 2026: the store retries the payment.',
  ],
  [
    'a replaced purchase',
    { ...ended, cancelationReason: 'System.Replaced' },
    'Replaced',
    'Another plan replaced this purchase on February 20, 2026.',
  ],
  [
    'a revoked purchase',
    { ...ended, cancelationReason: 'Developer', notifications: [{ date: iso('2026-02-20'), reason: 'REVOKED' }] },
    'Revoked',
    'The store revoked access on February 20, 2026: the developer canceled it.',
  ],
  [
    'an abandoned payment',
    { ...oneOff, isExpired: true, entitledUsers: [] },
    'Never paid',
    'The first payment was not completed: the purchase never gave access.',
  ],
  [
    'a consumed purchase',
    { ...oneOff, isConsumed: true },
    'Consumed',
    'Bought on February 3, 2026 and consumed: it can be bought again.',
  ],
  ['an end without a reason', ended, 'Expired', 'Expired on February 20, 2026.'],
  [
    'an end by the customer',
    { ...ended, cancelationReason: 'Customer' },
    'Expired',
    'Expired on February 20, 2026: the customer canceled it.',
  ],
];

describe('describePurchase', () => {
  it.each(withAccess)('describes %s, which gives access', (_name, purchase, label, headline) => {
    expect(describeNow(purchase)).toMatchObject({ label, headline, givesAccess: true });
  });

  it.each(withoutAccess)('describes %s, which does not give access', (_name, purchase, label, headline) => {
    expect(describeNow(purchase)).toMatchObject({ label, headline, givesAccess: false });
  });

  it('states a different cause for each cancelation reason', () => {
    const headlines = CancelationReason.options
      .filter((reason) => reason !== 'System.Replaced')
      .map((cancelationReason) => describeNow({ ...ended, cancelationReason }).headline);
    expect(new Set(headlines).size).toBe(headlines.length);
    for (const headline of headlines) expect(headline).toMatch(/^Expired on February 20, 2026: .+\.$/);
  });

  it('states a full refund of the latest payment as the end', () => {
    const refund = { ...payment, refundedAmountMicros: 4_990_000, refundDate: iso('2026-02-20') };
    expect(describeNow(ended, [refund])).toMatchObject({
      label: 'Refunded',
      headline: 'Refunded on February 20, 2026: access ended on February 20, 2026.',
      remarks: [],
    });
  });

  it('states a refund before the payments are loaded', () => {
    const refunded: DescribedPurchase = {
      ...ended,
      cancelationReason: 'Customer.OtherReason',
      notifications: [{ date: iso('2026-02-20'), reason: 'REFUNDED' }],
    };
    expect(describePurchase(refunded, { now })).toMatchObject({
      label: 'Refunded',
      headline: 'Refunded on February 20, 2026: access ended on February 20, 2026.',
    });
  });

  it('states a partial refund with its amount, and keeps access', () => {
    const refund = { ...payment, refundedAmountMicros: 1_000_000, refundDate: iso('2026-02-20') };
    expect(describeNow(subscription, [refund])).toMatchObject({
      label: 'Active',
      remarks: ['Refunded partly on February 20, 2026: $1.00 of $4.99 of the payment of February 3, 2026.'],
    });
  });

  it('ignores refunds of other purchases', () => {
    const refund = { ...payment, purchaseId: 'store_a:9', refundDate: iso('2026-02-20') };
    expect(describeNow(ended, [refund]).label).toBe('Expired');
  });

  it.each<readonly [Partial<DescribedPurchase>, string]>([
    [{ priceConsentStatus: 'Notified' }, 'notified of a price increase and has not agreed'],
    [{ priceConsentStatus: 'Agreed' }, 'agreed to the price increase'],
    [{ isIntroPeriod: true }, 'introductory price'],
    [{ discountId: 'half' }, 'the discount half'],
    [{ isSharedPurchase: true }, 'family member shares'],
    [{ sandbox: true }, 'sandbox purchase'],
    [{ entitledUsers: [] }, 'No customer owns it'],
    [{ entitledUsers: ['alice', 'bob'] }, '2 customers own it'],
    [
      { platform: 'store_b', isAcknowledged: false, purchaseDate: iso('2026-02-27') },
      'not acknowledged: Google Play refunds it on March 2, 2026',
    ],
  ])('remarks on %j', (change, remark) => {
    expect(describeNow(subscription).remarks).toEqual([]);
    expect(describeNow({ ...subscription, ...change }).remarks).toEqual([expect.stringContaining(remark)]);
  });

  it('does not expect an acknowledgement after three days, when Google Play has refunded what lacks it', () => {
    expect(describeNow({ ...subscription, platform: 'store_b', isAcknowledged: false }).remarks).toEqual([]);
  });

  const date = fc
    .date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true })
    .map((value) => value.toISOString());
  const optionalFlag = { isPending: fc.boolean(), isPaused: fc.boolean(), isConsumed: fc.boolean() };
  const purchases = fc.record(
    {
      purchaseId: fc.constant('store_a:1'),
      transactionId: fc.constant('store_a:2'),
      productId: fc.constant('store_a:premium'),
      platform: fc.constantFrom('store_a', 'store_b', 'store_c', 'processor_a', 'processor_b', 'apple', 'google'),
      purchaseDate: date,
      lastRenewalDate: date,
      expirationDate: date,
      renewalIntent: fc.constantFrom(...RenewalIntent.options),
      renewalIntentChangeDate: date,
      cancelationReason: fc.constantFrom(...CancelationReason.options),
      ...optionalFlag,
      isExpired: fc.boolean(),
      isAcknowledged: fc.boolean(),
      isBillingRetryPeriod: fc.boolean(),
      isTrialPeriod: fc.boolean(),
      isIntroPeriod: fc.boolean(),
      isSharedPurchase: fc.boolean(),
      sandbox: fc.boolean(),
      priceConsentStatus: fc.constantFrom(...PriceConsentStatus.options),
      autoResumeDate: date,
      entitledUsers: fc.array(fc.string()),
      notifications: fc.array(
        fc.record({
          date,
          reason: fc.constantFrom('PURCHASED', 'RENEWED', 'EXPIRED', 'REVOKED', 'ENTERED_GRACE_PERIOD'),
        }),
      ),
    },
    { requiredKeys: ['purchaseId', 'transactionId', 'productId', 'platform'] },
  ) as fc.Arbitrary<DescribedPurchase>;
  const refunds = fc
    .record({
      transactionId: fc.constantFrom('store_a:2', 'store_a:3'),
      refundDate: fc.option(date, { nil: undefined }),
      refundedAmountMicros: fc.option(fc.nat({ max: 5_000_000 }), { nil: undefined }),
    })
    .map(({ transactionId, refundDate, refundedAmountMicros }) => ({
      ...payment,
      transactionId,
      ...(refundDate !== undefined && { refundDate }),
      ...(refundDate !== undefined && refundedAmountMicros !== undefined && { refundedAmountMicros }),
    }));

  it('writes complete sentences for every combination of fields', () => {
    fc.assert(
      fc.property(purchases, fc.array(refunds, { maxLength: 4 }), (purchase, transactions) => {
        const description = describeNow(purchase, transactions);
        expect(toText(description)).not.toMatch(/undefined|null|NaN|Invalid|\[object|\s\s|\s[,.:]|\.\./);
        for (const sentence of [description.headline, ...description.remarks])
          expect(sentence).toMatch(/^[A-Z0-9].+\.$/);
        expect(description.label).toMatch(/^[A-Z][a-z, ]+$/);
      }),
    );
  });

  it('grants access only if the service reports a paid purchase that has not ended, and is not paused or consumed', () => {
    fc.assert(
      fc.property(purchases, fc.array(refunds, { maxLength: 2 }), (purchase, transactions) => {
        const { isExpired, expirationDate = '9999', isPending, isPaused, isConsumed } = purchase;
        const hasEnded = isExpired ?? Date.parse(expirationDate) <= now;
        const givesAccess = !hasEnded && !isPending && !isPaused && !isConsumed;
        expect(describeNow(purchase, transactions).givesAccess).toBe(givesAccess);
      }),
    );
  });

  it('promises a renewal only to an active subscription whose customer lets it renew', () => {
    fc.assert(
      fc.property(purchases, (purchase) => {
        const { headline, givesAccess } = describeNow(purchase);
        if (/^Renews on|then renews/.test(headline))
          expect([givesAccess, purchase.renewalIntent, purchase.isBillingRetryPeriod ?? false]).toEqual([
            true,
            'Renew',
            false,
          ]);
      }),
    );
  });

  it('mentions each refund once', () => {
    const transactions = fc.uniqueArray(refunds, { selector: ({ transactionId }) => transactionId });
    fc.assert(
      fc.property(purchases, transactions, (purchase, paid) => {
        const text = toText(describeNow(purchase, paid));
        const count = paid.filter(({ refundDate }) => refundDate !== undefined).length;
        expect(text.match(/Refunded/g) ?? []).toHaveLength(count);
      }),
    );
  });
});
