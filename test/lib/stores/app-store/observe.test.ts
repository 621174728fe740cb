import { describe, expect, it } from '@jest/globals';
import { dayMs, hourMs } from '../../../../lib/foundation/time.ts';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { listRefundedAmounts, listRefundKeys } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { buildOneTimePayload, buildTransactionPayload, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createAppStore, createContext, createSubscriber, failFetch } from '../../../../testing/fake-apple.ts';
import { type NotificationInput, observeNotification } from './notification-fixture.ts';

const monthMs = 31 * dayMs;
const occurredAt = purchaseDate + 10 * dayMs;
const secondPeriod = {
  transactionId: '1002',
  purchaseDate: purchaseDate + monthMs,
  originalPurchaseDate: purchaseDate,
  expiresDate: purchaseDate + 2 * monthMs,
};
const refund = { revocationDate: occurredAt, revocationReason: 0 };

const observePurchase = async (input: NotificationInput) =>
  (await observeNotification({ occurredAt, ...input })).observations[0]?.purchase;

describe('observe (App Store) without an API key', () => {
  it.each<[string, Omit<NotificationInput, 'type'>, object]>([
    ['SUBSCRIBED.INITIAL_BUY', { status: 1 }, { expirationDate: purchaseDate + monthMs, renewalIntent: 'Renew' }],
    [
      'SUBSCRIBED.RESUBSCRIBE',
      { status: 1, transaction: secondPeriod },
      { transactionId: 'store_a:1002', purchaseId: 'store_a:1001' },
    ],
    [
      'DID_RENEW',
      { status: 1, transaction: secondPeriod },
      { transactionId: 'store_a:1002', expirationDate: purchaseDate + 2 * monthMs },
    ],
    ['DID_RENEW.BILLING_RECOVERY', { status: 1, transaction: secondPeriod }, { isBillingRetryPeriod: false }],
    [
      'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED',
      { status: 1, renewal: { autoRenewStatus: 0 } },
      { renewalIntent: 'Lapse', renewalIntentChangeDate: occurredAt },
    ],
    [
      'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED',
      { status: 1 },
      { renewalIntent: 'Renew', renewalIntentChangeDate: occurredAt },
    ],
    [
      'DID_CHANGE_RENEWAL_PREF.DOWNGRADE',
      { status: 1, renewal: { autoRenewProductId: 'basic' } },
      { productId: 'store_a:monthly', renewalProductId: 'store_a:basic' },
    ],
    [
      'DID_CHANGE_RENEWAL_PREF.UPGRADE',
      { status: 1, transaction: { ...secondPeriod, productId: 'yearly' }, renewal: { autoRenewProductId: 'yearly' } },
      { productId: 'store_a:yearly' },
    ],
    [
      'DID_FAIL_TO_RENEW.GRACE_PERIOD',
      { status: 4, renewal: { gracePeriodExpiresDate: purchaseDate + 40 * dayMs, isInBillingRetryPeriod: false } },
      { isBillingRetryPeriod: true, expirationDate: purchaseDate + 40 * dayMs },
    ],
    [
      'DID_FAIL_TO_RENEW',
      { status: 3, occurredAt: purchaseDate + monthMs, renewal: { isInBillingRetryPeriod: true } },
      { isBillingRetryPeriod: true, expirationDate: purchaseDate + monthMs, cancelationReason: 'System.BillingError' },
    ],
    [
      'GRACE_PERIOD_EXPIRED',
      { status: 3, occurredAt: purchaseDate + 40 * dayMs },
      { expirationDate: purchaseDate + monthMs },
    ],
    [
      'EXPIRED.VOLUNTARY',
      { status: 2, occurredAt: purchaseDate + monthMs, renewal: { expirationIntent: 1, autoRenewStatus: 0 } },
      { cancelationReason: 'Customer', renewalIntent: 'Lapse', expirationDate: purchaseDate + monthMs },
    ],
    [
      'EXPIRED.BILLING_RETRY',
      { status: 2, occurredAt: purchaseDate + monthMs, renewal: { expirationIntent: 2 } },
      { cancelationReason: 'System.BillingError' },
    ],
    [
      'EXPIRED.PRICE_INCREASE',
      { status: 2, occurredAt: purchaseDate + monthMs, renewal: { expirationIntent: 3 } },
      { cancelationReason: 'Customer.PriceIncrease' },
    ],
    [
      'EXPIRED.PRODUCT_NOT_FOR_SALE',
      { status: 2, occurredAt: purchaseDate + monthMs, renewal: { expirationIntent: 4 } },
      { cancelationReason: 'System.ProductUnavailable' },
    ],
    ['PRICE_INCREASE.PENDING', { status: 1, renewal: { priceIncreaseStatus: 0 } }, { priceConsentStatus: 'Notified' }],
    ['PRICE_INCREASE.ACCEPTED', { status: 1, renewal: { priceIncreaseStatus: 1 } }, { priceConsentStatus: 'Agreed' }],
    [
      'RENEWAL_EXTENDED',
      { status: 1, transaction: { expiresDate: purchaseDate + 45 * dayMs } },
      { transactionId: 'store_a:1001', expirationDate: purchaseDate + 45 * dayMs },
    ],
    ['REFUND', { status: 5, transaction: refund }, { endedAt: occurredAt, cancelationReason: 'Customer.OtherReason' }],
    [
      'REVOKE',
      { status: 5, transaction: { ...refund, inAppOwnershipType: 'FAMILY_SHARED', revocationType: 'FAMILY_REVOKE' } },
      { endedAt: occurredAt, isSharedPurchase: true, amountMicros: 0 },
    ],
    ['REVOKE', { status: 5, transaction: { inAppOwnershipType: 'FAMILY_SHARED' } }, { endedAt: occurredAt }],
    ['REFUND_REVERSED', { status: 1 }, { expirationDate: purchaseDate + monthMs, renewalIntent: 'Renew' }],
    ['OFFER_REDEEMED', { status: 1 }, { expirationDate: purchaseDate + monthMs }],
  ])('returns the signed state of the purchase for %s', async (type, input, state) => {
    const { observations } = await observeNotification({ occurredAt, type, transaction: {}, renewal: {}, ...input });
    expect(observations).toMatchObject([{ asOf: input.occurredAt ?? occurredAt, purchase: state }]);
    expect(observations[0]?.refreshToken).toBeUndefined();
  });

  it('states that an upgrade is no renewal', async () => {
    const input = { type: 'DID_CHANGE_RENEWAL_PREF.UPGRADE', status: 1, transaction: secondPeriod, renewal: {} };
    const { observations } = await observeNotification({ occurredAt, ...input });
    expect(observations[0]?.transactions[0]?.isRenewal).toBe(false);
  });

  it('returns the next product only if it differs from the current one and there is a next period', async () => {
    const renewal = { autoRenewProductId: 'basic' };
    const input = { type: 'DID_CHANGE_RENEWAL_PREF.DOWNGRADE', transaction: {} };
    expect((await observePurchase({ ...input, status: 1, renewal: {} }))?.renewalProductId).toBeUndefined();
    expect((await observePurchase({ ...input, status: 2, renewal }))?.renewalProductId).toBeUndefined();
    expect((await observePurchase({ ...input, status: 4, renewal }))?.renewalProductId).toBe('store_a:basic');
  });

  it('dates the intent that the customer chose, even if the current one is another', async () => {
    const input = { occurredAt, status: 1, transaction: {}, renewal: {} };
    const renewed = await observePurchase({ ...input, type: 'DID_RENEW' });
    expect(renewed?.renewalIntentDates).toBeUndefined();
    const lapsed = await observePurchase({ ...input, type: 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED' });
    expect(lapsed).toMatchObject({ renewalIntent: 'Renew', renewalIntentDates: { Lapse: occurredAt } });
    expect(lapsed?.renewalIntentChangeDate).toBeUndefined();
  });

  it.each(['Consumable', 'Non-Consumable', 'Non-Renewing Subscription'] as const)(
    'returns purchase and refund of a %s',
    async (productType) => {
      const transaction = { ...buildOneTimePayload(productType), expiresDate: undefined };
      const purchase = await observePurchase({ type: 'ONE_TIME_CHARGE', transaction });
      expect(purchase).toMatchObject({ transactionId: 'store_a:1001', amountMicros: 4_990_000 });
      const refunded = await observePurchase({ type: 'REFUND', transaction: { ...transaction, ...refund } });
      expect(refunded).toMatchObject({ endedAt: occurredAt });
    },
  );

  it.each([1, 2, 5])('ends a refunded consumable if the notification has the status %i', async (status) => {
    const transaction = { ...buildOneTimePayload('Consumable'), expiresDate: undefined, ...refund };
    const purchase = await observePurchase({ type: 'REFUND', status, transaction });
    expect(purchase).toMatchObject({ endedAt: occurredAt, cancelationReason: 'Customer.OtherReason' });
    expect(purchase).not.toHaveProperty('expirationDate');
  });

  it('keeps an active consumable if the notification has the status of an expired subscription', async () => {
    const transaction = { ...buildOneTimePayload('Consumable'), expiresDate: undefined };
    const purchase = await observePurchase({ type: 'ONE_TIME_CHARGE', status: 2, transaction });
    for (const absent of ['expirationDate', 'endedAt', 'cancelationReason', 'renewalIntent'])
      expect(purchase).not.toHaveProperty(absent);
  });

  const partialRefund = { ...refund, revocationType: 'REFUND_PRORATED', revocationPercentage: 33_333 };

  it('keeps a consumable after a partial refund and returns the refunded amount', async () => {
    const transaction = { ...buildOneTimePayload('Consumable'), expiresDate: undefined, price: 15_000, quantity: 3 };
    const { observations } = await observeNotification({
      type: 'REFUND',
      occurredAt,
      transaction: { ...transaction, ...partialRefund },
    });
    expect(observations[0]?.purchase).not.toHaveProperty('endedAt');
    expect(observations[0]?.transactions).toMatchObject([
      { amountMicros: 15_000_000, partialRefunds: [{ date: occurredAt, amountMicros: 4_999_950 }] },
    ]);
    expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it.each<[string, object, object, object, 'Consumable' | undefined, number]>([
    [
      'what is left of two refunds of units',
      { price: 15_000, quantity: 3 },
      { ...partialRefund, revocationPercentage: 66_667 },
      { ...partialRefund, revocationPercentage: 33_333 },
      'Consumable',
      4_999_950,
    ],
    ['nothing after the only one', { price: 15_000, quantity: 3 }, partialRefund, {}, 'Consumable', 0],
    [
      'nothing after the only one of seats',
      { price: 15_000, quantity: 3 },
      { multiSeatInfo: { revokedSeatQuantity: 1 } },
      { multiSeatInfo: {} },
      undefined,
      0,
    ],
  ])('counts %s when a refund is reversed', async (_title, sale, before, after, productType, left) => {
    const bought = productType ? { ...buildOneTimePayload(productType), expiresDate: undefined } : {};
    const observations = await Promise.all(
      [
        { type: 'REFUND', occurredAt, transaction: { ...bought, ...sale, ...before } },
        { type: 'REFUND_REVERSED', occurredAt: occurredAt + dayMs, transaction: { ...bought, ...sale, ...after } },
      ].map(async (input) => (await observeNotification(input)).observations[0]),
    );
    for (const list of [observations, observations.toReversed()]) {
      const state = list.reduce<ReturnType<typeof merge> | undefined>((merged, next) => {
        const { refreshToken: _token, ...observation } = next as Observation;
        return merge(merged, observation);
      }, undefined);
      const transaction = state?.transactions[0]?.transaction as Transaction;
      const refunds = listRefundedAmounts(transaction);
      expect(listRefundKeys([transaction])).toEqual([]);
      expect(refunds.reduce((total, { amountMicros = 0 }) => total + amountMicros, 0)).toBe(left);
    }
  });

  it.each([
    [5, occurredAt],
    [undefined, occurredAt],
    // The App Store calls the subscription active, so that the refund is not of its present period.
    [1, undefined],
  ])('ends a subscription at its prorated refund with status %s', async (status, endedAt) => {
    const input = { type: 'REFUND', occurredAt, ...(status && { status }), transaction: partialRefund };
    for (const notification of [input, { ...input, renewal: {} }]) {
      const { observations } = await observeNotification(notification);
      expect(observations[0]?.purchase.endedAt).toBe(endedAt);
      expect(observations[0]?.transactions).toMatchObject([{ partialRefunds: [{ date: occurredAt }] }]);
      expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
    }
  });

  it.each([
    ['REFUND', 1],
    ['REFUND', undefined],
    ['REVOKE', 1],
    ['REVOKE', undefined],
  ])(
    'does not end a running subscription at the first notification, the %s of a past period (status %s)',
    async (type, status) => {
      const renewalDate = occurredAt + monthMs;
      const purchase = await observePurchase({
        type,
        ...(status && { status }),
        transaction: { ...refund, expiresDate: occurredAt - dayMs },
        renewal: { productId: 'yearly', renewalDate },
      });
      expect(purchase).toMatchObject({
        productId: 'store_a:yearly',
        expirationDate: renewalDate,
        renewalIntent: 'Renew',
      });
      expect(purchase?.endedAt).toBeUndefined();
    },
  );

  it('treats a percentage of 100 as a full refund', async () => {
    const transaction = { ...partialRefund, revocationPercentage: 100_000 };
    const { observations } = await observeNotification({
      type: 'REFUND',
      occurredAt,
      status: 5,
      transaction,
      renewal: {},
    });
    expect(observations).toMatchObject([{ transactions: [{ refundedAt: occurredAt }] }]);
    expect(observations[0]?.transactions[0]).not.toHaveProperty('partialRefunds');
  });

  it('returns no observation but a refund request for CONSUMPTION_REQUEST', async () => {
    const input = { type: 'CONSUMPTION_REQUEST', occurredAt, transaction: {}, renewal: {}, status: 1 };
    const { observations, refundRequest } = await observeNotification(input);
    expect(observations).toEqual([]);
    expect(refundRequest).toMatchObject({ transactionId: 'store_a:1001', deadline: occurredAt + 12 * hourMs });
  });

  it('derives the status from the renewal if the notification lacks it', async () => {
    const renewal = { priceIncreaseStatus: 0, autoRenewStatus: 0 };
    const purchase = await observePurchase({ type: 'PRICE_INCREASE.PENDING', transaction: {}, renewal });
    expect(purchase).toMatchObject({ priceConsentStatus: 'Notified', renewalIntent: 'Lapse' });
  });

  it.each<[string, object]>([
    ['TEST', {}],
    ['EXTERNAL_PURCHASE_TOKEN.UNREPORTED', {}],
    ['RENEWAL_EXTENSION.SUMMARY', {}],
  ])('returns no observations for %s', async (type, input) => {
    expect(await observeNotification({ type, ...input })).toEqual({
      reason: type === 'TEST' ? 'TEST' : 'OTHER',
      observations: [],
    });
  });

  it.each([1, 3, 4])(
    'returns the refund of a past period without a current state if the status is %i',
    async (status) => {
      const refundedAt = purchaseDate + 40 * dayMs;
      const input = { type: 'REFUND', occurredAt: refundedAt, status, transaction: refund, renewal: {} };
      const { reason, observations } = await observeNotification(input);
      expect(reason).toBe('REFUNDED');
      expect(observations).toMatchObject([
        {
          asOf: purchaseDate,
          isInferred: true,
          transactionsAsOf: refundedAt,
          transactions: [{ transactionId: 'store_a:1001', refundedAt: occurredAt }],
        },
      ]);
    },
  );

  it('returns a declined refund of a past period without a current state', async () => {
    const declinedAt = purchaseDate + 40 * dayMs;
    const input = { type: 'REFUND_DECLINED', occurredAt: declinedAt, status: 1, transaction: {}, renewal: {} };
    expect((await observeNotification(input)).observations).toMatchObject([
      { asOf: purchaseDate, isInferred: true, transactionsAsOf: declinedAt },
    ]);
  });
});

describe('observe (App Store) with an API key', () => {
  const renewed = buildTransactionPayload({ ...secondPeriod, signedDate: purchaseDate + 50 * dayMs });
  const createStore = (status = 1, renewal: object = {}) =>
    createAppStore({
      Production: createSubscriber(status, renewed, { signedDate: purchaseDate + 50 * dayMs, ...renewal }),
    });
  const withApiKey = (fetch = createStore().fetch) => ({ settings: createContext().settings, fetch });

  it('returns the current state of the API', async () => {
    const type = 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED';
    const input = { type, occurredAt, status: 1, transaction: {}, renewal: {} };
    const { fetch, calls } = createStore(1, { autoRenewStatus: 0 });
    expect(await observeNotification(input, withApiKey(fetch))).toMatchObject({
      reason: 'WILL_AUTO_RENEW',
      observations: [
        {
          asOf: purchaseDate + 50 * dayMs,
          purchase: { transactionId: 'store_a:1002', renewalIntent: 'Lapse' },
          refreshToken: { originalTransactionId: '1001', environment: 'Production' },
        },
      ],
    });
    expect(calls).toEqual([
      'api.storekit.apple.com/inApps/v1/subscriptions/1001',
      'api.storekit.apple.com/inApps/v1/transactions/1001',
    ]);
  });

  it('fetches the transaction of a late notification, which may have been refunded since', async () => {
    const input = { type: 'DID_RENEW', occurredAt, status: 1, transaction: {}, renewal: {} };
    const refunded = buildTransactionPayload({ ...refund, signedDate: purchaseDate + 50 * dayMs });
    const { fetch } = createAppStore({ Production: { ...createSubscriber(1, renewed), transactions: [refunded] } });
    const { observations } = await observeNotification(input, withApiKey(fetch));
    expect(observations[0]?.transactions).toMatchObject([
      { transactionId: 'store_a:1001', refundedAt: occurredAt },
      { transactionId: 'store_a:1002' },
    ]);
  });

  it('adds the refund of a past period to the current state', async () => {
    const input = {
      type: 'REFUND',
      occurredAt: purchaseDate + 40 * dayMs,
      status: 1,
      transaction: refund,
      renewal: {},
    };
    const { observations } = await observeNotification(input, withApiKey());
    expect(observations).toMatchObject([
      { purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 2 * monthMs } },
    ]);
    expect(observations[0]?.purchase.endedAt).toBeUndefined();
    expect(observations[0]?.transactions).toMatchObject([
      { transactionId: 'store_a:1001', refundedAt: occurredAt },
      { transactionId: 'store_a:1002' },
    ]);
  });

  it('fetches a one-time purchase by its transaction', async () => {
    const payload = buildOneTimePayload('Non-Consumable', { ...refund, signedDate: purchaseDate + 50 * dayMs });
    const { fetch, calls } = createAppStore({ Production: { transactions: [payload] } });
    const transaction = { ...buildOneTimePayload('Non-Consumable'), expiresDate: undefined };
    const input = { type: 'ONE_TIME_CHARGE', occurredAt, transaction };
    const { observations } = await observeNotification(input, withApiKey(fetch));
    expect(observations).toMatchObject([{ asOf: purchaseDate + 50 * dayMs, purchase: { endedAt: occurredAt } }]);
    expect(calls).toEqual(['api.storekit.apple.com/inApps/v1/transactions/1001']);
  });

  it.each([
    ['is unavailable', failFetch],
    ['does not contain the purchase', createAppStore({}).fetch],
    ['rejects the API key', async () => ({ status: 401, text: 'Unauthenticated', headers: {} })],
    ['returns HTML', async () => ({ status: 200, text: '<html>', headers: {} })],
    [
      'returns an older state',
      createAppStore({
        Production: createSubscriber(2, { signedDate: purchaseDate + 1 }, { signedDate: purchaseDate + 1 }),
      }).fetch,
    ],
    [
      'returns a different purchase',
      createAppStore({ Production: createSubscriber(2, { originalTransactionId: '9', transactionId: '9' }) }).fetch,
    ],
  ])('returns the signed state if the API %s', async (_title, fetch) => {
    const input = {
      type: 'DID_RENEW',
      occurredAt: purchaseDate + monthMs,
      status: 1,
      transaction: secondPeriod,
      renewal: {},
    };
    expect(await observeNotification(input, withApiKey(fetch))).toMatchObject({
      reason: 'RENEWED',
      observations: [
        { asOf: purchaseDate + monthMs, purchase: { transactionId: 'store_a:1002', renewalIntent: 'Renew' } },
      ],
    });
  });
});
