import { describe, expect, it } from '@jest/globals';
import { storeB } from '../../../../lib/stores/store-b/store-b.ts';
import {
  askingGoogle,
  later,
  now,
  type OrderAnswer,
  type ProductAnswer,
  request,
  type SubscriptionAnswer,
} from './fake-google.ts';

const running: SubscriptionAnswer = {
  kind: 'androidpublisher#subscriptionPurchaseV2',
  startTime: '2026-11-01T00:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
  lineItems: [
    {
      productId: 'premium',
      expiryTime: later,
      latestSuccessfulOrderId: 'GPA.1',
      autoRenewingPlan: {
        autoRenewEnabled: true,
        recurringPrice: { currencyCode: 'EUR', units: '4', nanos: 990_000_000 },
      },
      offerDetails: { basePlanId: 'p1m' },
    },
  ],
};
const [line] = running.lineItems ?? [];
const withLine = (changes: object): SubscriptionAnswer => ({ ...running, lineItems: [{ ...line, ...changes }] });
const inState = (state: string, changes: object = {}): SubscriptionAnswer => ({
  ...running,
  subscriptionState: `SUBSCRIPTION_STATE_${state}`,
  ...changes,
});
const cancelled = (context: object, state = 'EXPIRED') => inState(state, { canceledStateContext: context });
const survey = (reason: string) => cancelled({ userInitiatedCancellation: { cancelSurveyResult: { reason } } });
const withRefused = (priceChangeMode: string): SubscriptionAnswer => ({
  ...survey('CANCEL_SURVEY_REASON_COST_RELATED'),
  lineItems: [
    { ...line, autoRenewingPlan: { priceChangeDetails: { priceChangeMode, priceChangeState: 'OUTSTANDING' } } },
  ],
});
const observed = async (subscription: SubscriptionAnswer, order?: OrderAnswer) =>
  (await storeB.validate(request(), askingGoogle({ subscription, ...(order && { order }) }))).observations;

describe('a subscription of store_b', () => {
  it.each<[string, SubscriptionAnswer, object]>([
    ['ids', running, { purchaseId: 'store_b:token-1', transactionId: 'store_b:GPA.1', productId: 'store_b:premium' }],
    ['offer', running, { offerId: 'store_b:premium#p1m' }],
    [
      'an offer of a base plan',
      withLine({ offerDetails: { basePlanId: 'p1m', offerId: 'new' } }),
      { offerId: 'store_b:premium#p1m@new', discountId: 'new' },
    ],
    ['dates', running, { purchaseDate: Date.parse('2026-11-01T00:00:00Z'), expirationDate: Date.parse(later) }],
    ['production', running, { sandbox: false }],
    ['a test purchase', { ...running, testPurchase: {} }, { sandbox: true }],
    ['renewing', running, { renewalIntent: 'Renew', isAcknowledged: true, isBillingRetryPeriod: false }],
    ['auto-renewal off', withLine({ autoRenewingPlan: { autoRenewEnabled: false } }), { renewalIntent: 'Lapse' }],
    ['prepaid', withLine({ autoRenewingPlan: undefined, prepaidPlan: {} }), { renewalIntent: 'Lapse' }],
    ['cancelled but running', inState('CANCELED'), { renewalIntent: 'Lapse', expirationDate: Date.parse(later) }],
    ['a refused price', withRefused('PRICE_INCREASE'), { cancelationReason: 'Customer.PriceIncrease' }],
    ['a lower price', withRefused('PRICE_DECREASE'), { cancelationReason: 'Customer.Cost' }],
    [
      'when it was cancelled',
      cancelled({ userInitiatedCancellation: { cancelTime: '2026-11-20T00:00:00Z' } }, 'CANCELED'),
      { renewalIntentChangeDate: Date.parse('2026-11-20T00:00:00Z') },
    ],
    ['grace', inState('IN_GRACE_PERIOD'), { isBillingRetryPeriod: true, expirationDate: Date.parse(later) }],
    [
      'hold',
      inState('ON_HOLD'),
      { isBillingRetryPeriod: true, expirationDate: now, cancelationReason: 'System.BillingError' },
    ],
    [
      'a pause',
      inState('PAUSED', { pausedStateContext: { autoResumeTime: later } }),
      { isPaused: true, autoResumeDate: Date.parse(later), expirationDate: now, cancelationReason: 'PAUSED' },
    ],
    ['pending', inState('PENDING'), { isPending: true }],
    ['given up before it was paid', inState('PENDING_PURCHASE_CANCELED'), { isAbandoned: true }],
    ['expired', inState('EXPIRED'), { renewalIntent: 'Lapse', expirationDate: now }],
    ['by the developer', cancelled({ developerInitiatedCancellation: {} }), { cancelationReason: 'Developer' }],
    ['by a replacement', cancelled({ replacementCancellation: {} }), { cancelationReason: 'System.Replaced' }],
    ['by the system', cancelled({ systemInitiatedCancellation: {} }), { cancelationReason: 'System' }],
    ['by the user', cancelled({ userInitiatedCancellation: {} }), { cancelationReason: 'Customer' }],
    ['little used', survey('CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE'), { cancelationReason: 'Customer.NotUsefulEnough' }],
    ['technical', survey('CANCEL_SURVEY_REASON_TECHNICAL_ISSUES'), { cancelationReason: 'Customer.TechnicalIssues' }],
    ['cost', survey('CANCEL_SURVEY_REASON_COST_RELATED'), { cancelationReason: 'Customer.Cost' }],
    ['a better app', survey('CANCEL_SURVEY_REASON_FOUND_BETTER_APP'), { cancelationReason: 'Customer.FoundBetterApp' }],
    ['other', survey('CANCEL_SURVEY_REASON_OTHERS'), { cancelationReason: 'Customer.OtherReason' }],
    ['a trial', withLine({ offerPhase: { freeTrial: {} } }), { isTrialPeriod: true }],
    ['an introductory price', withLine({ offerPhase: { introductoryPrice: {} } }), { isIntroPeriod: true }],
    ['a promotion', withLine({ signupPromotion: { vanityCode: { promotionCode: 'CODE' } } }), { discountId: 'CODE' }],
    ['a state of the future', inState('SOMETHING_NEW'), { expirationDate: Date.parse(later) }],
  ])('tells %s', async (_what, subscription, fields) => {
    const [observation] = await observed(subscription);
    expect(observation).toMatchObject({ asOf: now, purchase: fields });
  });

  it.each([
    ['PRICE_INCREASE', 'OUTSTANDING', 'Notified'],
    ['PRICE_INCREASE', 'CONFIRMED', 'Agreed'],
    ['PRICE_INCREASE', 'APPLIED', 'Agreed'],
    ['OPT_OUT_PRICE_INCREASE', 'CONFIRMED', 'Notified'],
    ['PRICE_DECREASE', 'OUTSTANDING', undefined],
    ['PRICE_INCREASE', 'CANCELED', undefined],
  ])('with a %s that is %s has the consent %s', async (priceChangeMode, priceChangeState, consent) => {
    const plan = { ...line?.autoRenewingPlan, priceChangeDetails: { priceChangeMode, priceChangeState } };
    const [observation] = await observed(withLine({ autoRenewingPlan: plan }));
    expect(observation?.purchase.priceConsentStatus).toBe(consent);
  });

  it('was paid what its order says, else what the plan costs, and in a trial nothing', async () => {
    const order: OrderAnswer = {
      orderId: 'GPA.1',
      total: { currencyCode: 'USD', units: '3', nanos: 500_000_000 },
      createTime: '2026-11-01T00:00:00Z',
    };
    const paidIn = async (...look: Parameters<typeof observed>) => (await observed(...look))[0]?.transactions[0];
    expect(await paidIn(running, order)).toMatchObject({ currency: 'USD', amountMicros: 3_500_000 });
    expect(await paidIn(running)).toMatchObject({ currency: 'EUR', amountMicros: 4_990_000 });
    expect(await paidIn(withLine({ offerPhase: { freeTrial: {} } }))).toMatchObject({ amountMicros: 0 });
    expect(await paidIn(running, { ...order, state: 'REFUNDED', lastEventTime: later })).toMatchObject({
      refundedAt: Date.parse(later),
    });
  });

  it.each(['IN_GRACE_PERIOD', 'ON_HOLD', 'PENDING'])(
    'in %s makes no transaction of the order that is not paid',
    async (state) => {
      const unpaid = {
        ...withLine({ latestSuccessfulOrderId: undefined }),
        subscriptionState: `SUBSCRIPTION_STATE_${state}`,
        latestOrderId: 'GPA.1..0',
      };
      const [observation] = await observed(unpaid);
      expect(observation?.transactions).toEqual([]);
    },
  );

  it('with several lines is several purchases, without those that wait for their turn', async () => {
    const lineItems = [
      line ?? {},
      { ...line, productId: 'extra' },
      { ...line, productId: 'next', latestSuccessfulOrderId: null },
    ];
    const ids = (
      await observed({
        ...running,
        lineItems: lineItems.map(({ latestSuccessfulOrderId, ...rest }) =>
          latestSuccessfulOrderId ? { ...rest, latestSuccessfulOrderId } : rest,
        ),
      })
    ).map(({ purchase }) => purchase.purchaseId);
    expect(ids).toEqual(['store_b:token-1', 'store_b:token-1:extra']);
  });

  it('tells the users that the app and the Play Store name', async () => {
    const named = {
      ...running,
      externalAccountIdentifiers: { obfuscatedExternalAccountId: 'a' },
      outOfAppPurchaseContext: { expiredExternalAccountIdentifiers: { obfuscatedExternalAccountId: 'b' } },
    };
    expect((await observed(named))[0]?.userAliases).toEqual(['a', 'b']);
  });

  it('shows nothing of the person who subscribed', async () => {
    const subscription = { ...running, subscribeWithGoogleInfo: { emailAddress: 'ann@example.com' } };
    const { nativeTransaction } = await storeB.validate(request(), askingGoogle({ subscription }));
    expect(nativeTransaction).toMatchObject({
      kind: 'androidpublisher#subscriptionPurchaseV2',
      startTime: running.startTime,
    });
    expect(JSON.stringify(nativeTransaction)).not.toContain('ann@example.com');
  });
});

describe('a product of store_b', () => {
  const bought: ProductAnswer = {
    orderId: 'GPA.2',
    purchaseCompletionTime: '2026-11-20T00:00:00Z',
    acknowledgementState: 'ACKNOWLEDGEMENT_STATE_PENDING',
    purchaseStateContext: { purchaseState: 'PURCHASED' },
    productLineItem: [
      {
        productId: 'premium',
        productOfferDetails: { quantity: 2, consumptionState: 'CONSUMPTION_STATE_YET_TO_BE_CONSUMED' },
      },
    ],
  };
  const seen = async (product: ProductAnswer) =>
    (
      await storeB.validate(
        { ...request('consumable'), priceMicros: 1_000_000, currency: 'EUR' },
        askingGoogle({ product }),
      )
    ).observations[0];

  it.each<[string, ProductAnswer, object]>([
    [
      'ids and dates',
      bought,
      {
        purchaseId: 'store_b:token-1',
        transactionId: 'store_b:GPA.2',
        purchaseDate: Date.parse('2026-11-20T00:00:00Z'),
      },
    ],
    ['its quantity', bought, { quantity: 2, isAcknowledged: false, isConsumed: false }],
    ['a test purchase', { ...bought, testPurchaseContext: { fopType: 'TEST' } }, { sandbox: true }],
    ['pending', { ...bought, purchaseStateContext: { purchaseState: 'PENDING' } }, { isPending: true }],
    [
      'cancelled',
      { ...bought, purchaseStateContext: { purchaseState: 'CANCELLED' } },
      { endedAt: Date.parse('2026-11-20T00:00:00Z'), cancelationReason: 'Unknown' },
    ],
    [
      'consumed',
      {
        ...bought,
        productLineItem: [
          { productId: 'premium', productOfferDetails: { consumptionState: 'CONSUMPTION_STATE_CONSUMED' } },
        ],
      },
      { isConsumed: true, quantity: 1 },
    ],
  ])('tells %s', async (_what, product, fields) => {
    expect((await seen(product))?.purchase).toMatchObject(fields);
  });

  it('without an order has the amount that the client reports, for all of its quantity', async () => {
    expect((await seen(bought))?.transactions).toMatchObject([
      { amountMicros: 2_000_000, currency: 'EUR', isReportedAmount: true },
    ]);
  });
});
