import { describe, expect, it, test } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import {
  buildOneTimePayload,
  buildTransactionPayload,
  dayMs,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { type Customer, createSubscriber, validateSignedTransaction } from '../../../../testing/fake-apple.ts';

const monthEnd = purchaseDate + 31 * dayMs;
const later = { signedDate: monthEnd + 10 * dayMs };
const afterTheEnd = { asking: { now: () => later.signedDate } };

const purchaseOf = async (
  customer: Customer,
  payload?: object,
  changes: Parameters<typeof validateSignedTransaction>[2] = {},
) => {
  const { observations } = await validateSignedTransaction(customer, payload, changes);
  return observations[0]?.purchase;
};

describe('a subscription of store_a', () => {
  it('carries what the signed transaction and the renewal say', async () => {
    const transaction = { appAccountToken: 'f6a3bd0e-0f5c-4f1c-9c3f-2f2b8b3f4a11', quantity: 1 };
    const { observations } = await validateSignedTransaction(createSubscriber(1, transaction));
    expect(observations).toEqual([
      {
        asOf: purchaseDate + 60_000,
        purchase: {
          purchaseId: 'store_a:1001',
          transactionId: 'store_a:1001',
          productId: 'store_a:monthly',
          platform: 'store_a',
          productType: 'paid subscription',
          sandbox: false,
          purchaseDate,
          expirationDate: monthEnd,
          renewalIntent: 'Renew',
          isBillingRetryPeriod: false,
          quantity: 1,
          currency: 'USD',
          amountMicros: 4_990_000,
          isSharedPurchase: false,
        },
        transactions: [
          {
            transactionId: 'store_a:1001',
            purchaseId: 'store_a:1001',
            productId: 'store_a:monthly',
            platform: 'store_a',
            sandbox: false,
            purchaseDate,
            expirationDate: monthEnd,
            quantity: 1,
            currency: 'USD',
            amountMicros: 4_990_000,
          },
        ],
        userTokens: ['f6a3bd0e-0f5c-4f1c-9c3f-2f2b8b3f4a11'],
        refreshToken: { originalTransactionId: '1001', environment: 'Production' },
      },
    ]);
  });

  it.each([
    [
      'active and renewing',
      1,
      {},
      {},
      { renewalIntent: 'Renew', isBillingRetryPeriod: false, expirationDate: monthEnd },
    ],
    ['active and cancelled', 1, {}, { autoRenewStatus: 0 }, { renewalIntent: 'Lapse', expirationDate: monthEnd }],
    ['a price rise not answered yet', 1, {}, { priceIncreaseStatus: 0 }, { priceConsentStatus: 'Notified' }],
    ['a price rise consented to', 1, {}, { priceIncreaseStatus: 1 }, { priceConsentStatus: 'Agreed' }],
    [
      'a free trial',
      1,
      { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 },
      {},
      { isTrialPeriod: true, amountMicros: 0 },
    ],
    ['a free trial of an older payload', 1, { offerType: 1, price: 0 }, {}, { isTrialPeriod: true }],
    [
      'a trial by a promotional offer',
      1,
      { offerType: 2, offerDiscountType: 'FREE_TRIAL', offerIdentifier: 'back' },
      {},
      { isTrialPeriod: true, discountId: 'back' },
    ],
    ['a paid introduction', 1, { offerType: 1, offerDiscountType: 'PAY_AS_YOU_GO' }, {}, { isIntroPeriod: true }],
    [
      'a promotional offer',
      1,
      { offerType: 2, offerIdentifier: 'back' },
      {},
      { discountId: 'back', offerId: 'store_a:monthly#back' },
    ],
    ['an offer code', 1, { offerType: 3, offerIdentifier: 'code' }, {}, { discountId: 'code' }],
    ['a win-back offer', 1, { offerType: 4, offerIdentifier: 'win' }, {}, { discountId: 'win' }],
    ['a family share', 1, { inAppOwnershipType: 'FAMILY_SHARED' }, {}, { isSharedPurchase: true, amountMicros: 0 }],
    [
      'a purchase in the currency of another country',
      1,
      { price: 1990, currency: 'EUR' },
      {},
      { amountMicros: 1_990_000, currency: 'EUR' },
    ],
  ])('in its first period: %s', async (_title, status, transaction, renewal, expected) => {
    const purchase = await purchaseOf(createSubscriber(status, transaction, renewal));
    expect(purchase).toMatchObject(expected);
    expect(purchase).not.toHaveProperty('cancelationReason');
    expect(purchase && isExpired(purchase, purchaseDate + 60_000)).toBe(false);
  });

  it.each([
    ['cancelled', 2, { expirationIntent: 1 }, { cancelationReason: 'Customer' }],
    ['never paid', 2, { expirationIntent: 2 }, { cancelationReason: 'System.BillingError' }],
    ['not consented to a price', 2, { expirationIntent: 3 }, { cancelationReason: 'Customer.PriceIncrease' }],
    ['product gone', 2, { expirationIntent: 4 }, { cancelationReason: 'System.ProductUnavailable' }],
    ['other reason', 2, { expirationIntent: 5 }, { cancelationReason: 'Unknown' }],
    ['new reason', 2, { expirationIntent: 17 }, { cancelationReason: 'Unknown' }],
    ['no reason', 2, {}, { cancelationReason: 'Unknown' }],
    [
      'payment being retried',
      3,
      { isInBillingRetryPeriod: true },
      { cancelationReason: 'System.BillingError', isBillingRetryPeriod: true, renewalIntent: 'Renew' },
    ],
  ])('after its end: %s', async (_title, status, renewal, expected) => {
    const purchase = await purchaseOf(
      createSubscriber(status, later, { ...later, ...renewal }),
      undefined,
      afterTheEnd,
    );
    expect(purchase).toMatchObject({ expirationDate: monthEnd, ...expected });
    expect(purchase && isExpired(purchase, later.signedDate)).toBe(true);
  });

  it('lapses once it has expired, whatever the renewal still says', async () => {
    expect(await purchaseOf(createSubscriber(2, later, later), undefined, afterTheEnd)).toMatchObject({
      renewalIntent: 'Lapse',
    });
  });

  it('is open until the end of its grace period, although Apple may not call that a billing retry', async () => {
    const grace = { gracePeriodExpiresDate: monthEnd + 16 * dayMs, isInBillingRetryPeriod: false };
    const customer = createSubscriber(4, later, { ...later, ...grace });
    const { observations } = await validateSignedTransaction(customer, undefined, afterTheEnd);
    expect(observations[0]?.purchase).toMatchObject({
      expirationDate: monthEnd + 16 * dayMs,
      isBillingRetryPeriod: true,
    });
    expect(observations[0]?.transactions).toHaveLength(1);
  });

  it('that Apple calls active a moment after its date stays open until Apple is asked again', async () => {
    const justAfter = monthEnd + 30_000;
    const purchase = await purchaseOf(createSubscriber(1, { signedDate: justAfter }), undefined, {
      asking: { now: () => justAfter },
    });
    expect(purchase && isExpired(purchase, justAfter)).toBe(false);
    expect(purchase && isExpired(purchase, justAfter + 3_600_000)).toBe(true);
  });

  it('that Apple calls expired is so, even before the date of its transaction', async () => {
    const purchase = await purchaseOf(createSubscriber(2));
    expect(purchase && isExpired(purchase, purchaseDate + 60_000)).toBe(true);
  });

  it.each([
    ['refunded for a technical problem', { revocationReason: 1 }, 'Customer.TechnicalIssues'],
    ['refunded for another reason', { revocationReason: 0 }, 'Customer.OtherReason'],
    ['refunded for a reason of the future', { revocationReason: 9 }, 'Unknown'],
    ['taken from a family member', { revocationType: 'FAMILY_REVOKE' }, 'Customer.OtherReason'],
  ])('%s has ended at that moment', async (_title, revocation, cancelationReason) => {
    const revocationDate = purchaseDate + 3 * dayMs;
    const state = { revocationDate, signedDate: revocationDate, ...revocation };
    const { observations } = await validateSignedTransaction(
      createSubscriber(5, state, { autoRenewStatus: 0 }),
      buildTransactionPayload(state),
    );
    expect(observations[0]?.purchase).toMatchObject({
      endedAt: revocationDate,
      expirationDate: revocationDate,
      cancelationReason,
    });
    expect(observations[0]?.transactions).toMatchObject([{ refundedAt: revocationDate }]);
  });

  it('goes on when an old period of it is refunded', async () => {
    const old = buildTransactionPayload({ revocationDate: purchaseDate + 40 * dayMs, revocationReason: 0 });
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: monthEnd,
      expiresDate: monthEnd + 30 * dayMs,
      signedDate: monthEnd + 10 * dayMs,
    });
    const customer = { ...createSubscriber(1, renewed), transactions: [renewed, old] };
    const { observations } = await validateSignedTransaction(customer, undefined, afterTheEnd);
    const [{ purchase, transactions } = { purchase: undefined, transactions: [] }] = observations;
    expect(purchase).toMatchObject({
      transactionId: 'store_a:1002',
      expirationDate: monthEnd + 30 * dayMs,
      lastRenewalDate: monthEnd,
      purchaseDate,
    });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions.map(({ transactionId, refundedAt }) => [transactionId, refundedAt])).toEqual([
      ['store_a:1002', undefined],
      ['store_a:1001', purchaseDate + 40 * dayMs],
    ]);
  });

  it('whose latest period is refunded ends, and keeps the transaction before as its last one', async () => {
    const revocationDate = monthEnd + dayMs;
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: monthEnd,
      expiresDate: monthEnd + 30 * dayMs,
      revocationDate,
      revocationReason: 0,
    });
    const customer = { ...createSubscriber(5, renewed), transactions: [buildTransactionPayload(), renewed] };
    const purchase = await purchaseOf(customer, undefined, afterTheEnd);
    expect(purchase).toMatchObject({
      transactionId: 'store_a:1001',
      endedAt: revocationDate,
      cancelationReason: 'Customer.OtherReason',
    });
  });

  it('follows the product that the customer changed to, and is one purchase still', async () => {
    const upgradedAt = purchaseDate + 5 * dayMs;
    const basic = buildTransactionPayload({ isUpgraded: true, expiresDate: upgradedAt, signedDate: upgradedAt });
    const premium = buildTransactionPayload({
      transactionId: '1002',
      productId: 'premium',
      purchaseDate: upgradedAt,
      expiresDate: upgradedAt + 30 * dayMs,
      signedDate: upgradedAt,
    });
    const customer = {
      ...createSubscriber(1, premium, { autoRenewProductId: 'cheaper' }),
      transactions: [basic, premium],
    };
    const { observations } = await validateSignedTransaction(customer);
    expect(observations).toMatchObject([
      { purchase: { purchaseId: 'store_a:1001', productId: 'store_a:premium', transactionId: 'store_a:1002' } },
    ]);
    expect(observations[0]?.purchase).not.toHaveProperty('cancelationReason');
    expect(observations[0]?.transactions.map(({ productId }) => productId)).toEqual([
      'store_a:monthly',
      'store_a:premium',
    ]);
  });

  test('a replaced transaction of which nothing newer is known has ended as replaced', async () => {
    const replaced = buildTransactionPayload({ isUpgraded: true });
    const purchase = await purchaseOf({ transactions: [replaced] }, replaced);
    expect(purchase).toMatchObject({ cancelationReason: 'System.Replaced', endedAt: purchaseDate + 60_000 });
  });

  it('of which Apple tells a status of the future is judged by its dates', async () => {
    expect(await purchaseOf(createSubscriber(9))).toMatchObject({ expirationDate: monthEnd });
  });
});

describe('other products of store_a', () => {
  it.each([
    ['Consumable', 'consumable'],
    ['Non-Consumable', 'non consumable'],
    ['Non-Renewing Subscription', 'non renewing subscription'],
  ] as const)('a %s is a purchase of its own', async (type, productType) => {
    const payload = buildOneTimePayload(type, { quantity: 3, price: 14_970 });
    const purchase = await purchaseOf({ transactions: [payload] }, payload);
    expect(purchase).toMatchObject({
      productType,
      purchaseId: 'store_a:1001',
      transactionId: 'store_a:1001',
      quantity: 3,
      amountMicros: 14_970_000,
    });
    for (const absent of ['expirationDate', 'lastRenewalDate', 'renewalIntent', 'isConsumed', 'isAcknowledged']) {
      expect(purchase).not.toHaveProperty(absent);
    }
  });

  it('end when they are refunded', async () => {
    const payload = buildOneTimePayload('Non-Consumable', {
      revocationDate: purchaseDate + dayMs,
      revocationReason: 1,
    });
    const purchase = await purchaseOf({ transactions: [payload] }, payload);
    expect(purchase).toMatchObject({ endedAt: purchaseDate + dayMs, cancelationReason: 'Customer.TechnicalIssues' });
    expect(purchase).not.toHaveProperty('expirationDate');
  });

  it.each([
    [1, 'Month', '2026-04-01T10:00:00Z'],
    [2, 'Week', '2026-03-15T10:00:00Z'],
    [10, 'Day', '2026-03-11T10:00:00Z'],
    [1, 'Year', '2027-03-01T10:00:00Z'],
  ] as const)(
    'a non-renewing subscription lasts the %d %s of the request',
    async (billingPeriod, billingPeriodUnit, end) => {
      const payload = buildOneTimePayload('Non-Renewing Subscription');
      const request = {
        id: payload.productId,
        type: 'non renewing subscription',
        billingPeriod,
        billingPeriodUnit,
      } as const;
      const { observations } = await validateSignedTransaction({ transactions: [payload] }, payload, { request });
      expect(observations[0]?.purchase.expirationDate).toBe(Date.parse(end));
      expect(observations[0]?.refreshToken).toHaveProperty('period');
    },
  );

  it('do not last the billing period that a client sends along with a consumable', async () => {
    const payload = buildOneTimePayload('Consumable');
    const request = { id: 'consumable', type: 'consumable', billingPeriod: 1, billingPeriodUnit: 'Month' } as const;
    const { observations } = await validateSignedTransaction({ transactions: [payload] }, payload, { request });
    expect(observations[0]?.purchase).not.toHaveProperty('expirationDate');
  });

  it('are sandbox purchases when they were made there', async () => {
    const payload = buildOneTimePayload('Consumable', { environment: 'Sandbox' });
    const { observations } = await validateSignedTransaction({}, payload, {
      asking: { settings: { bundleId: payload.bundleId } },
    });
    expect(observations).toMatchObject([{ purchase: { sandbox: true }, transactions: [{ sandbox: true }] }]);
  });

  it('are counted once each, at the price that the store tells', async () => {
    const payload = buildOneTimePayload('Consumable');
    const request = { id: 'consumable', type: 'consumable', priceMicros: 1, currency: 'EUR' } as const;
    const { observations } = await validateSignedTransaction({ transactions: [payload, payload] }, payload, {
      request,
    });
    expect(observations.flatMap(({ transactions }) => transactions)).toMatchObject([
      { amountMicros: 4_990_000, currency: 'USD' },
    ]);
    expect(observations[0]?.transactions[0]).not.toHaveProperty('isReportedAmount');
  });
});

describe('the introductory price', () => {
  it('is used up for every product of the group that was ever bought', async () => {
    const trial = buildTransactionPayload({ offerType: 1, offerDiscountType: 'FREE_TRIAL' });
    const other = buildTransactionPayload({ transactionId: '1002', productId: 'yearly', purchaseDate: monthEnd });
    const foreign = buildTransactionPayload({
      transactionId: '2001',
      originalTransactionId: '2001',
      productId: 'news',
      subscriptionGroupIdentifier: 'group-2',
    });
    const { ineligibleForIntroPrice } = await validateSignedTransaction({ transactions: [trial, other, foreign] });
    expect([...ineligibleForIntroPrice].sort()).toEqual(['monthly', 'yearly']);
  });

  it('is not used up by an offer code or by buying at the full price', async () => {
    const { ineligibleForIntroPrice } = await validateSignedTransaction(
      createSubscriber(1, { offerType: 3, offerDiscountType: 'FREE_TRIAL' }),
    );
    expect(ineligibleForIntroPrice).toEqual([]);
  });
});
