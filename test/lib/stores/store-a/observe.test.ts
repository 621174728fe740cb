import { describe, expect, it } from '@jest/globals';
import {
  buildOneTimePayload,
  buildTransactionPayload,
  dayMs,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { createAppStore, createContext, createSubscriber, failFetch } from '../../../../testing/fake-apple.ts';
import { noticed, type Told } from './notification-fixture.ts';

const month = 31 * dayMs;
const at = purchaseDate + 10 * dayMs;
const second = {
  transactionId: '1002',
  purchaseDate: purchaseDate + month,
  originalPurchaseDate: purchaseDate,
  expiresDate: purchaseDate + 2 * month,
};
const refund = { revocationDate: at, revocationReason: 0 };

/** What a notification tells of its purchase when nobody but its signature can be asked. */
const purchaseOf = async (told: Told) => (await noticed({ at, ...told })).observations[0]?.purchase;

describe('a notification of store_a that Apple cannot be asked about', () => {
  it.each<[string, Omit<Told, 'type'>, object]>([
    ['SUBSCRIBED.INITIAL_BUY', { status: 1 }, { expirationDate: purchaseDate + month, renewalIntent: 'Renew' }],
    [
      'SUBSCRIBED.RESUBSCRIBE',
      { status: 1, transaction: second },
      { transactionId: 'store_a:1002', purchaseId: 'store_a:1001' },
    ],
    [
      'DID_RENEW',
      { status: 1, transaction: second },
      { transactionId: 'store_a:1002', expirationDate: purchaseDate + 2 * month },
    ],
    ['DID_RENEW.BILLING_RECOVERY', { status: 1, transaction: second }, { isBillingRetryPeriod: false }],
    [
      'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED',
      { status: 1, renewal: { autoRenewStatus: 0 } },
      { renewalIntent: 'Lapse', renewalIntentChangeDate: at },
    ],
    [
      'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED',
      { status: 1 },
      { renewalIntent: 'Renew', renewalIntentChangeDate: at },
    ],
    [
      'DID_CHANGE_RENEWAL_PREF.DOWNGRADE',
      { status: 1, renewal: { autoRenewProductId: 'basic' } },
      { productId: 'store_a:monthly', renewalProductId: 'store_a:basic' },
    ],
    [
      'DID_CHANGE_RENEWAL_PREF.UPGRADE',
      { status: 1, transaction: { ...second, productId: 'yearly' }, renewal: { autoRenewProductId: 'yearly' } },
      { productId: 'store_a:yearly' },
    ],
    [
      'DID_FAIL_TO_RENEW.GRACE_PERIOD',
      { status: 4, renewal: { gracePeriodExpiresDate: purchaseDate + 40 * dayMs, isInBillingRetryPeriod: false } },
      { isBillingRetryPeriod: true, expirationDate: purchaseDate + 40 * dayMs },
    ],
    [
      'DID_FAIL_TO_RENEW',
      { status: 3, at: purchaseDate + month, renewal: { isInBillingRetryPeriod: true } },
      { isBillingRetryPeriod: true, expirationDate: purchaseDate + month, cancelationReason: 'System.BillingError' },
    ],
    ['GRACE_PERIOD_EXPIRED', { status: 3, at: purchaseDate + 40 * dayMs }, { expirationDate: purchaseDate + month }],
    [
      'EXPIRED.VOLUNTARY',
      { status: 2, at: purchaseDate + month, renewal: { expirationIntent: 1, autoRenewStatus: 0 } },
      { cancelationReason: 'Customer', renewalIntent: 'Lapse', expirationDate: purchaseDate + month },
    ],
    [
      'EXPIRED.BILLING_RETRY',
      { status: 2, at: purchaseDate + month, renewal: { expirationIntent: 2 } },
      { cancelationReason: 'System.BillingError' },
    ],
    [
      'EXPIRED.PRICE_INCREASE',
      { status: 2, at: purchaseDate + month, renewal: { expirationIntent: 3 } },
      { cancelationReason: 'Customer.PriceIncrease' },
    ],
    [
      'EXPIRED.PRODUCT_NOT_FOR_SALE',
      { status: 2, at: purchaseDate + month, renewal: { expirationIntent: 4 } },
      { cancelationReason: 'System.ProductUnavailable' },
    ],
    ['PRICE_INCREASE.PENDING', { status: 1, renewal: { priceIncreaseStatus: 0 } }, { priceConsentStatus: 'Notified' }],
    ['PRICE_INCREASE.ACCEPTED', { status: 1, renewal: { priceIncreaseStatus: 1 } }, { priceConsentStatus: 'Agreed' }],
    [
      'RENEWAL_EXTENDED',
      { status: 1, transaction: { expiresDate: purchaseDate + 45 * dayMs } },
      { transactionId: 'store_a:1001', expirationDate: purchaseDate + 45 * dayMs },
    ],
    ['REFUND', { status: 5, transaction: refund }, { endedAt: at, cancelationReason: 'Customer.OtherReason' }],
    [
      'REVOKE',
      { status: 5, transaction: { ...refund, inAppOwnershipType: 'FAMILY_SHARED', revocationType: 'FAMILY_REVOKE' } },
      { endedAt: at, isSharedPurchase: true, amountMicros: 0 },
    ],
    ['REFUND_REVERSED', { status: 1 }, { expirationDate: purchaseDate + month, renewalIntent: 'Renew' }],
    ['OFFER_REDEEMED', { status: 1 }, { expirationDate: purchaseDate + month }],
  ])('tells the state of the purchase: %s', async (type, told, state) => {
    const { observations } = await noticed({ at, type, transaction: {}, renewal: {}, ...told });
    expect(observations).toMatchObject([{ asOf: told.at ?? at, purchase: state }]);
    expect(observations[0]?.refreshToken).toBeUndefined();
  });

  it('names the next product only while it is another one and there is a next period', async () => {
    const basic = { autoRenewProductId: 'basic' };
    const changed = { type: 'DID_CHANGE_RENEWAL_PREF.DOWNGRADE', transaction: {} };
    expect((await purchaseOf({ ...changed, status: 1, renewal: {} }))?.renewalProductId).toBeUndefined();
    expect((await purchaseOf({ ...changed, status: 2, renewal: basic }))?.renewalProductId).toBeUndefined();
    expect((await purchaseOf({ ...changed, status: 4, renewal: basic }))?.renewalProductId).toBe('store_a:basic');
  });

  it('dates a change of intent, also one that has been changed back since', async () => {
    const told = { at, status: 1, transaction: {}, renewal: {} };
    expect((await purchaseOf({ ...told, type: 'DID_RENEW' }))?.renewalIntentChangeDate).toBeUndefined();
    const disabled = 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED';
    expect((await purchaseOf({ ...told, type: disabled }))?.renewalIntentChangeDate).toBe(at);
  });

  it.each(['Consumable', 'Non-Consumable', 'Non-Renewing Subscription'] as const)('tells of a %s', async (type) => {
    const transaction = { ...buildOneTimePayload(type), expiresDate: undefined };
    const purchase = await purchaseOf({ type: 'ONE_TIME_CHARGE', transaction });
    expect(purchase).toMatchObject({ transactionId: 'store_a:1001', amountMicros: 4_990_000 });
    const taken = await purchaseOf({ type: 'REFUND', transaction: { ...transaction, ...refund } });
    expect(taken).toMatchObject({ endedAt: at });
  });

  it.each<[string, object]>([
    ['TEST', {}],
    ['EXTERNAL_PURCHASE_TOKEN.UNREPORTED', {}],
    ['RENEWAL_EXTENSION.SUMMARY', {}],
    ['CONSUMPTION_REQUEST', { transaction: {}, renewal: {}, status: 1 }],
  ])('tells of no purchase: %s', async (type, told) => {
    expect(await noticed({ type, ...told })).toEqual({ reason: type === 'TEST' ? 'TEST' : 'OTHER', observations: [] });
  });

  it.each([1, 3, 4])('adds the refund of a past period to whatever the state is, at status %i', async (status) => {
    const told = { type: 'REFUND', at: purchaseDate + 40 * dayMs, status, transaction: refund, renewal: {} };
    const { reason, observations } = await noticed(told);
    expect(reason).toBe('REFUNDED');
    expect(observations).toMatchObject([
      {
        asOf: purchaseDate,
        transactionsAsOf: purchaseDate + 40 * dayMs,
        transactions: [{ transactionId: 'store_a:1001', refundedAt: at }],
      },
    ]);
  });

  it('takes no state from a refusal to refund a past period', async () => {
    const told = { type: 'REFUND_DECLINED', at: purchaseDate + 40 * dayMs, status: 1, transaction: {}, renewal: {} };
    expect((await noticed(told)).observations).toMatchObject([
      { asOf: purchaseDate, transactionsAsOf: purchaseDate + 40 * dayMs },
    ]);
  });
});

describe('a notification of store_a with an API key', () => {
  const now = buildTransactionPayload({ ...second, signedDate: purchaseDate + 50 * dayMs });
  const store = (status = 1, renewal: object = {}) =>
    createAppStore({
      Production: createSubscriber(status, now, { signedDate: purchaseDate + 50 * dayMs, ...renewal }),
    });
  const keyed = (fetch = store().fetch) => ({ settings: createContext().settings, fetch });

  it('is answered with the present state', async () => {
    const told = { type: 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED', at, status: 1, transaction: {}, renewal: {} };
    const { fetch, calls } = store(1, { autoRenewStatus: 0 });
    expect(await noticed(told, keyed(fetch))).toMatchObject({
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

  it('shows the payment that it names as it is now: a late one may have been refunded since', async () => {
    const told = { type: 'DID_RENEW', at, status: 1, transaction: {}, renewal: {} };
    const refunded = buildTransactionPayload({ ...refund, signedDate: purchaseDate + 50 * dayMs });
    const { fetch } = createAppStore({ Production: { ...createSubscriber(1, now), transactions: [refunded] } });
    const { observations } = await noticed(told, keyed(fetch));
    expect(observations[0]?.transactions).toMatchObject([
      { transactionId: 'store_a:1001', refundedAt: at },
      { transactionId: 'store_a:1002' },
    ]);
  });

  it('adds the refund of a past period to the present one', async () => {
    const told = { type: 'REFUND', at: purchaseDate + 40 * dayMs, status: 1, transaction: refund, renewal: {} };
    const { observations } = await noticed(told, keyed());
    expect(observations).toMatchObject([
      { purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 2 * month } },
    ]);
    expect(observations[0]?.purchase.endedAt).toBeUndefined();
    expect(observations[0]?.transactions).toMatchObject([
      { transactionId: 'store_a:1001', refundedAt: at },
      { transactionId: 'store_a:1002' },
    ]);
  });

  it('asks for a one-time purchase by itself', async () => {
    const payload = buildOneTimePayload('Non-Consumable', { ...refund, signedDate: purchaseDate + 50 * dayMs });
    const { fetch, calls } = createAppStore({ Production: { transactions: [payload] } });
    const transaction = { ...buildOneTimePayload('Non-Consumable'), expiresDate: undefined };
    const { observations } = await noticed({ type: 'ONE_TIME_CHARGE', at, transaction }, keyed(fetch));
    expect(observations).toMatchObject([{ asOf: purchaseDate + 50 * dayMs, purchase: { endedAt: at } }]);
    expect(calls).toEqual(['api.storekit.apple.com/inApps/v1/transactions/1001']);
  });

  it.each([
    ['cannot be reached', failFetch],
    ['does not know the purchase', createAppStore({}).fetch],
    ['refuses the key', async () => ({ status: 401, text: 'Unauthenticated', headers: new Headers() })],
    ['talks nonsense', async () => ({ status: 200, text: '<html>', headers: new Headers() })],
    [
      'tells of another time before',
      createAppStore({
        Production: createSubscriber(2, { signedDate: purchaseDate + 1 }, { signedDate: purchaseDate + 1 }),
      }).fetch,
    ],
    [
      'tells of another purchase',
      createAppStore({ Production: createSubscriber(2, { originalTransactionId: '9', transactionId: '9' }) }).fetch,
    ],
  ])('is not lost when Apple %s', async (_what, fetch) => {
    const told = { type: 'DID_RENEW', at: purchaseDate + month, status: 1, transaction: second, renewal: {} };
    expect(await noticed(told, keyed(fetch))).toMatchObject({
      reason: 'RENEWED',
      observations: [
        { asOf: purchaseDate + month, purchase: { transactionId: 'store_a:1002', renewalIntent: 'Renew' } },
      ],
    });
  });

  it('leaves the refresh of a non-renewing subscription to whoever knows its length', async () => {
    const transaction = { ...buildOneTimePayload('Non-Renewing Subscription'), expiresDate: undefined };
    const { observations } = await noticed({ type: 'ONE_TIME_CHARGE', at, transaction }, keyed(failFetch));
    expect(observations[0]?.refreshToken).toBeUndefined();
  });
});
