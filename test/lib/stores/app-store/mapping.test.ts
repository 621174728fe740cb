import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { buildOneTimePayload, buildTransactionPayload, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { type Customer, createSubscriber, validateSignedTransaction } from '../../../../testing/fake-apple.ts';

const monthEnd = purchaseDate + 31 * dayMs;
const afterEnd = { signedDate: monthEnd + 10 * dayMs };
const validatedAfterEnd = { context: { now: () => afterEnd.signedDate } };

const validatePurchase = async (
  customer: Customer,
  payload?: object,
  changes: Parameters<typeof validateSignedTransaction>[2] = {},
) => {
  const { observations } = await validateSignedTransaction(customer, payload, changes);
  return observations[0]?.purchase;
};

describe('validate (App Store) of a subscription', () => {
  it('maps all fields of the transaction and the renewal', async () => {
    const transaction = { appAccountToken: 'f6a3bd0e-0f5c-4f1c-9c3f-2f2b8b3f4a11', quantity: 1 };
    const { observations } = await validateSignedTransaction(createSubscriber(1, transaction));
    expect(observations).toEqual([
      {
        asOf: purchaseDate + 60_000,
        transactionsAsOf: purchaseDate + 60_000,
        isOrderedByTransaction: true,
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
        userAliases: ['f6a3bd0e-0f5c-4f1c-9c3f-2f2b8b3f4a11'],
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
    ['active and canceled', 1, {}, { autoRenewStatus: 0 }, { renewalIntent: 'Lapse', expirationDate: monthEnd }],
    ['a price increase without consent', 1, {}, { priceIncreaseStatus: 0 }, { priceConsentStatus: 'Notified' }],
    ['a price increase with consent', 1, {}, { priceIncreaseStatus: 1 }, { priceConsentStatus: 'Agreed' }],
    [
      'a free trial',
      1,
      { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 },
      {},
      { isTrialPeriod: true, amountMicros: 0 },
    ],
    ['a free trial without offerDiscountType', 1, { offerType: 1, price: 0 }, {}, { isTrialPeriod: true }],
    [
      'a free trial by a promotional offer',
      1,
      { offerType: 2, offerDiscountType: 'FREE_TRIAL', offerIdentifier: 'back' },
      {},
      { isTrialPeriod: true, discountId: 'back' },
    ],
    ['a paid introductory offer', 1, { offerType: 1, offerDiscountType: 'PAY_AS_YOU_GO' }, {}, { isIntroPeriod: true }],
    [
      'a promotional offer',
      1,
      { offerType: 2, offerIdentifier: 'back' },
      {},
      { discountId: 'back', offerId: 'store_a:monthly#back' },
    ],
    ['an offer code', 1, { offerType: 3, offerIdentifier: 'code' }, {}, { discountId: 'code' }],
    ['a win-back offer', 1, { offerType: 4, offerIdentifier: 'win' }, {}, { discountId: 'win' }],
    ['a shared purchase', 1, { inAppOwnershipType: 'FAMILY_SHARED' }, {}, { isSharedPurchase: true, amountMicros: 0 }],
    ['a price in EUR', 1, { price: 1990, currency: 'EUR' }, {}, { amountMicros: 1_990_000, currency: 'EUR' }],
  ])('maps the first period: %s', async (_title, status, transaction, renewal, expected) => {
    const purchase = await validatePurchase(createSubscriber(status, transaction, renewal));
    expect(purchase).toMatchObject(expected);
    expect(purchase).not.toHaveProperty('cancelationReason');
    expect(purchase && isExpired(purchase, purchaseDate + 60_000)).toBe(false);
  });

  it.each([
    ['canceled by the customer', 2, { expirationIntent: 1 }, { cancelationReason: 'Customer' }],
    ['payment failed', 2, { expirationIntent: 2 }, { cancelationReason: 'System.BillingError' }],
    ['no consent to a price increase', 2, { expirationIntent: 3 }, { cancelationReason: 'Customer.PriceIncrease' }],
    ['product not available', 2, { expirationIntent: 4 }, { cancelationReason: 'System.ProductUnavailable' }],
    ['other reason', 2, { expirationIntent: 5 }, { cancelationReason: 'Unknown' }],
    ['unknown reason', 2, { expirationIntent: 17 }, { cancelationReason: 'Unknown' }],
    ['no reason', 2, {}, { cancelationReason: 'Unknown' }],
    [
      'billing retry',
      3,
      { isInBillingRetryPeriod: true },
      { cancelationReason: 'System.BillingError', isBillingRetryPeriod: true, renewalIntent: 'Renew' },
    ],
  ])('maps an expired subscription: %s', async (_title, status, renewal, expected) => {
    const purchase = await validatePurchase(
      createSubscriber(status, afterEnd, { ...afterEnd, ...renewal }),
      undefined,
      validatedAfterEnd,
    );
    expect(purchase).toMatchObject({ expirationDate: monthEnd, ...expected });
    expect(purchase && isExpired(purchase, afterEnd.signedDate)).toBe(true);
  });

  it('returns the renewal intent Lapse for an expired subscription that still renews', async () => {
    expect(await validatePurchase(createSubscriber(2, afterEnd, afterEnd), undefined, validatedAfterEnd)).toMatchObject(
      {
        renewalIntent: 'Lapse',
      },
    );
  });

  it('extends access to the end of the grace period even if isInBillingRetryPeriod is false', async () => {
    const grace = { gracePeriodExpiresDate: monthEnd + 16 * dayMs, isInBillingRetryPeriod: false };
    const customer = createSubscriber(4, afterEnd, { ...afterEnd, ...grace });
    const { observations } = await validateSignedTransaction(customer, undefined, validatedAfterEnd);
    expect(observations[0]?.purchase).toMatchObject({
      expirationDate: monthEnd + 16 * dayMs,
      isBillingRetryPeriod: true,
    });
    expect(observations[0]?.transactions).toHaveLength(1);
  });

  it.each<[string, number, boolean]>([
    ['until the shortest grace period of the App Store ends', monthEnd + dayMs, true],
    ['while the App Store reports it', monthEnd + 10 * dayMs, true],
    ['not longer than the shortest grace period without a later report', monthEnd + 4 * dayMs, false],
  ])('gives access in a grace period without gracePeriodExpiresDate: %s', async (_title, at, isActive) => {
    const signedDate = isActive ? at : monthEnd;
    const customer = createSubscriber(4, { signedDate }, { signedDate });
    const purchase = await validatePurchase(customer, undefined, { context: { now: () => signedDate } });
    expect(purchase && isExpired(purchase, at)).toBe(!isActive);
  });

  it('keeps the paid period of a subscription whose next payment has failed before its end', async () => {
    const purchase = await validatePurchase(createSubscriber(3, {}, { isInBillingRetryPeriod: true }));
    expect(purchase).toMatchObject({ expirationDate: monthEnd, isBillingRetryPeriod: true });
    expect(purchase && isExpired(purchase, monthEnd - 1)).toBe(false);
  });

  it('extends an active subscription with a past expiration date by less than an hour', async () => {
    const justAfterEnd = monthEnd + 30_000;
    const purchase = await validatePurchase(createSubscriber(1, { signedDate: justAfterEnd }), undefined, {
      context: { now: () => justAfterEnd },
    });
    expect(purchase && isExpired(purchase, justAfterEnd)).toBe(false);
    expect(purchase && isExpired(purchase, justAfterEnd + 3_600_000)).toBe(true);
  });

  it('ends an expired subscription before the expiration date of its transaction', async () => {
    const purchase = await validatePurchase(createSubscriber(2));
    expect(purchase && isExpired(purchase, purchaseDate + 60_000)).toBe(true);
  });

  it.each([
    ['a refund for a technical issue', { revocationReason: 1 }, 'Customer.TechnicalIssues'],
    ['a refund for another reason', { revocationReason: 0 }, 'Customer.OtherReason'],
    ['a refund for an unknown reason', { revocationType: 'REFUND_FULL', revocationReason: 9 }, 'Unknown'],
    [
      'a revocation from a family member',
      { inAppOwnershipType: 'FAMILY_SHARED', revocationType: 'FAMILY_REVOKE' },
      'Customer.OtherReason',
    ],
  ])('ends the purchase at the date of %s', async (_title, revocation, cancelationReason) => {
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

  it.each([
    ['type', { revocationType: 'SOMETHING_NEW', revocationReason: 0 }],
    ['reason', { revocationReason: 9 }],
  ])('ends the purchase and keeps its payment after a revocation of an unknown %s', async (_title, revocation) => {
    const revocationDate = purchaseDate + 3 * dayMs;
    const evidence = buildTransactionPayload({ revocationDate, signedDate: revocationDate, ...revocation });
    const { observations } = await validateSignedTransaction(createSubscriber(5, evidence), evidence);
    expect(observations[0]?.purchase).toMatchObject({ endedAt: revocationDate });
    expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it('continues after the refund of a past period', async () => {
    const refunded = buildTransactionPayload({ revocationDate: purchaseDate + 40 * dayMs, revocationReason: 0 });
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: monthEnd,
      expiresDate: monthEnd + 30 * dayMs,
      signedDate: monthEnd + 10 * dayMs,
    });
    const customer = { ...createSubscriber(1, renewed), transactions: [renewed, refunded] };
    const { observations } = await validateSignedTransaction(customer, undefined, validatedAfterEnd);
    const [{ purchase, transactions } = { purchase: undefined, transactions: [] }] = observations;
    expect(purchase).toMatchObject({
      transactionId: 'store_a:1002',
      expirationDate: monthEnd + 30 * dayMs,
      purchaseDate,
    });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions.map(({ transactionId, refundedAt }) => [transactionId, refundedAt])).toEqual([
      ['store_a:1002', undefined],
      ['store_a:1001', purchaseDate + 40 * dayMs],
    ]);
  });

  it('ends after the refund of the latest period and returns the refunded transaction', async () => {
    const revocationDate = monthEnd + dayMs;
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: monthEnd,
      expiresDate: monthEnd + 30 * dayMs,
      revocationDate,
      revocationReason: 0,
    });
    const customer = { ...createSubscriber(5, renewed), transactions: [buildTransactionPayload(), renewed] };
    const purchase = await validatePurchase(customer, undefined, validatedAfterEnd);
    expect(purchase).toMatchObject({
      transactionId: 'store_a:1002',
      endedAt: revocationDate,
      cancelationReason: 'Customer.OtherReason',
    });
  });

  it('changes the product of the same purchase after an upgrade', async () => {
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

  it('ends a replaced transaction without a successor with the reason System.Replaced', async () => {
    const replaced = buildTransactionPayload({ isUpgraded: true });
    const purchase = await validatePurchase({ transactions: [replaced] }, replaced);
    expect(purchase).toMatchObject({ cancelationReason: 'System.Replaced', endedAt: purchaseDate + 60_000 });
  });

  it('does not map the revocation of an upgraded transaction to a refund, unless its type is one', async () => {
    const upgradedAt = purchaseDate + 5 * dayMs;
    const replaced = buildTransactionPayload({
      isUpgraded: true,
      revocationDate: upgradedAt,
      revocationReason: 0,
      signedDate: upgradedAt + dayMs,
    });
    const { observations } = await validateSignedTransaction({ transactions: [replaced] }, replaced);
    expect(observations[0]).toMatchObject({
      purchase: { cancelationReason: 'System.Replaced', endedAt: upgradedAt },
      transactions: [{ isReplaced: true }],
    });
    expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
    const refunded = { ...replaced, revocationType: 'REFUND_FULL' };
    const refund = await validateSignedTransaction({ transactions: [refunded] }, refunded);
    expect(refund.observations[0]?.transactions[0]).toMatchObject({ refundedAt: upgradedAt });
  });

  it('uses the dates of the transaction for an unknown status', async () => {
    expect(await validatePurchase(createSubscriber(9))).toMatchObject({ expirationDate: monthEnd });
  });
});

describe('validate (App Store) of other products', () => {
  it.each([
    ['Consumable', 'consumable'],
    ['Non-Consumable', 'non consumable'],
    ['Non-Renewing Subscription', 'non renewing subscription'],
  ] as const)('maps a %s to a purchase without subscription fields', async (type, productType) => {
    const payload = buildOneTimePayload(type, { quantity: 3, price: 14_970 });
    const purchase = await validatePurchase({ transactions: [payload] }, payload);
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

  it('ends a refunded purchase', async () => {
    const payload = buildOneTimePayload('Non-Consumable', {
      revocationDate: purchaseDate + dayMs,
      revocationReason: 1,
    });
    const purchase = await validatePurchase({ transactions: [payload] }, payload);
    expect(purchase).toMatchObject({ endedAt: purchaseDate + dayMs, cancelationReason: 'Customer.TechnicalIssues' });
    expect(purchase).not.toHaveProperty('expirationDate');
  });

  it('marks purchases of the sandbox environment', async () => {
    const payload = buildOneTimePayload('Consumable', { environment: 'Sandbox' });
    const { observations } = await validateSignedTransaction({}, payload, {
      context: { settings: { bundleId: payload.bundleId } },
    });
    expect(observations).toMatchObject([{ purchase: { sandbox: true }, transactions: [{ sandbox: true }] }]);
  });

  it('returns a duplicate transaction once, with the amount of the store', async () => {
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

describe('ineligibleForIntroPrice (App Store)', () => {
  it('contains all purchased products of the subscription group', async () => {
    const trial = buildTransactionPayload({ offerType: 1, offerDiscountType: 'FREE_TRIAL' });
    const yearly = buildTransactionPayload({ transactionId: '1002', productId: 'yearly', purchaseDate: monthEnd });
    const otherGroup = buildTransactionPayload({
      transactionId: '2001',
      originalTransactionId: '2001',
      productId: 'news',
      subscriptionGroupIdentifier: 'group-2',
    });
    const { ineligibleForIntroPrice } = await validateSignedTransaction({ transactions: [trial, yearly, otherGroup] });
    expect([...ineligibleForIntroPrice].sort()).toEqual(['monthly', 'yearly']);
  });

  it('does not list products after an offer code or a purchase at the full price', async () => {
    const { ineligibleForIntroPrice } = await validateSignedTransaction(
      createSubscriber(1, { offerType: 3, offerDiscountType: 'FREE_TRIAL' }),
    );
    expect(ineligibleForIntroPrice).toEqual([]);
  });
});
