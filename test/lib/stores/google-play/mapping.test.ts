import { describe, expect, it } from '@jest/globals';
import { dayMs, hourMs, minuteMs } from '../../../../lib/foundation/time.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import {
  createGoogleContext,
  createRequest,
  expiryTime,
  now,
  type OrderResponse,
  type ProductResponse,
  type SubscriptionResponse,
} from './fake-google.ts';

const active: SubscriptionResponse = {
  kind: 'androidpublisher#subscriptionPurchaseV2',
  startTime: '2026-11-01T00:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
  lineItems: [
    {
      productId: 'premium',
      expiryTime,
      latestSuccessfulOrderId: 'GPA.1',
      autoRenewingPlan: {
        autoRenewEnabled: true,
        recurringPrice: { currencyCode: 'EUR', units: '4', nanos: 990_000_000 },
      },
      offerDetails: { basePlanId: 'p1m' },
    },
  ],
};
const [item] = active.lineItems ?? [];
const withItem = (changes: object): SubscriptionResponse => ({ ...active, lineItems: [{ ...item, ...changes }] });
const inState = (state: string, changes: object = {}): SubscriptionResponse => ({
  ...active,
  subscriptionState: `SUBSCRIPTION_STATE_${state}`,
  ...changes,
});
const canceledBy = (context: object, state = 'EXPIRED') => inState(state, { canceledStateContext: context });
const withSurvey = (reason: string) => canceledBy({ userInitiatedCancellation: { cancelSurveyResult: { reason } } });
const withDeclinedPrice = (priceChangeMode: string, changes: object = {}): SubscriptionResponse => ({
  ...withSurvey('CANCEL_SURVEY_REASON_COST_RELATED'),
  lineItems: [
    {
      ...item,
      autoRenewingPlan: { priceChangeDetails: { priceChangeMode, priceChangeState: 'OUTSTANDING', ...changes } },
    },
  ],
});
const withStepUp = (state: string, consentDeadlineTime: string): SubscriptionResponse => ({
  ...canceledBy({ systemInitiatedCancellation: {} }),
  lineItems: [{ ...item, autoRenewingPlan: { priceStepUpConsentDetails: { state, consentDeadlineTime } } }],
});
const validate = async (subscription: SubscriptionResponse, order?: OrderResponse) =>
  (await googlePlay.validate(createRequest(), createGoogleContext({ subscription, ...(order && { order }) })))
    .observations;

describe('validate (Google Play) of a subscription', () => {
  it.each<[string, SubscriptionResponse, object]>([
    [
      'the ids',
      active,
      { purchaseId: 'store_b:token-1', transactionId: 'store_b:GPA.1', productId: 'store_b:premium' },
    ],
    ['the base plan', active, { offerId: 'store_b:premium#p1m' }],
    [
      'an offer of a base plan',
      withItem({ offerDetails: { basePlanId: 'p1m', offerId: 'new' } }),
      { offerId: 'store_b:premium#p1m@new', discountId: 'new' },
    ],
    ['the dates', active, { purchaseDate: Date.parse('2026-11-01T00:00:00Z'), expirationDate: Date.parse(expiryTime) }],
    ['a production purchase', active, { sandbox: false }],
    ['a test purchase', { ...active, testPurchase: {} }, { sandbox: true }],
    ['an active subscription', active, { renewalIntent: 'Renew', isAcknowledged: true, isBillingRetryPeriod: false }],
    ['disabled auto-renewal', withItem({ autoRenewingPlan: { autoRenewEnabled: false } }), { renewalIntent: 'Lapse' }],
    ['a prepaid plan', withItem({ autoRenewingPlan: undefined, prepaidPlan: {} }), { renewalIntent: 'Lapse' }],
    [
      'a canceled subscription before its expiration',
      inState('CANCELED'),
      { renewalIntent: 'Lapse', expirationDate: Date.parse(expiryTime) },
    ],
    ['a declined price increase', withDeclinedPrice('PRICE_INCREASE'), { cancelationReason: 'Customer.PriceIncrease' }],
    [
      'a declined price increase of this renewal',
      withDeclinedPrice('PRICE_INCREASE', { expectedNewPriceChargeTime: expiryTime }),
      { cancelationReason: 'Customer.PriceIncrease' },
    ],
    [
      'an end before the price increase',
      withDeclinedPrice('PRICE_INCREASE', { expectedNewPriceChargeTime: '2027-01-21T12:00:00Z' }),
      { cancelationReason: 'Customer.Cost' },
    ],
    [
      'a price step-up without consent',
      withStepUp('PENDING', '2026-12-14T12:00:00Z'),
      { cancelationReason: 'Customer.PriceIncrease' },
    ],
    ['a price step-up with consent', withStepUp('CONFIRMED', '2026-12-14T12:00:00Z'), { cancelationReason: 'System' }],
    ['an end before the consent', withStepUp('PENDING', '2027-01-14T12:00:00Z'), { cancelationReason: 'System' }],
    ['a price decrease', withDeclinedPrice('PRICE_DECREASE'), { cancelationReason: 'Customer.Cost' }],
    [
      'the date of a cancelation',
      canceledBy({ userInitiatedCancellation: { cancelTime: '2026-11-20T00:00:00Z' } }, 'CANCELED'),
      { renewalIntentChangeDate: Date.parse('2026-11-20T00:00:00Z') },
    ],
    [
      'a grace period',
      inState('IN_GRACE_PERIOD'),
      { isBillingRetryPeriod: true, expirationDate: Date.parse(expiryTime) },
    ],
    [
      'an account hold',
      inState('ON_HOLD'),
      { isBillingRetryPeriod: true, expirationDate: now, cancelationReason: 'System.BillingError' },
    ],
    [
      'a pause',
      inState('PAUSED', { pausedStateContext: { autoResumeTime: expiryTime } }),
      { isPaused: true, autoResumeDate: Date.parse(expiryTime), expirationDate: now, cancelationReason: 'PAUSED' },
    ],
    ['a pending subscription', inState('PENDING'), { isPending: true }],
    ['a canceled pending purchase', inState('PENDING_PURCHASE_CANCELED'), { isAbandoned: true }],
    ['an expired subscription', inState('EXPIRED'), { renewalIntent: 'Lapse', expirationDate: now }],
    [
      'a cancelation by the developer',
      canceledBy({ developerInitiatedCancellation: {} }),
      { cancelationReason: 'Developer' },
    ],
    [
      'a cancelation by a replacement',
      canceledBy({ replacementCancellation: {} }),
      { cancelationReason: 'System.Replaced' },
    ],
    ['a cancelation by the system', canceledBy({ systemInitiatedCancellation: {} }), { cancelationReason: 'System' }],
    ['a cancelation by the customer', canceledBy({ userInitiatedCancellation: {} }), { cancelationReason: 'Customer' }],
    [
      'the survey reason of low usage',
      withSurvey('CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE'),
      { cancelationReason: 'Customer.NotUsefulEnough' },
    ],
    [
      'the survey reason of technical issues',
      withSurvey('CANCEL_SURVEY_REASON_TECHNICAL_ISSUES'),
      { cancelationReason: 'Customer.TechnicalIssues' },
    ],
    [
      'the survey reason of cost',
      withSurvey('CANCEL_SURVEY_REASON_COST_RELATED'),
      { cancelationReason: 'Customer.Cost' },
    ],
    [
      'the survey reason of a better app',
      withSurvey('CANCEL_SURVEY_REASON_FOUND_BETTER_APP'),
      { cancelationReason: 'Customer.FoundBetterApp' },
    ],
    ['another survey reason', withSurvey('CANCEL_SURVEY_REASON_OTHERS'), { cancelationReason: 'Customer.OtherReason' }],
    ['a trial', withItem({ offerPhase: { freeTrial: {} } }), { isTrialPeriod: true }],
    ['an introductory price', withItem({ offerPhase: { introductoryPrice: {} } }), { isIntroPeriod: true }],
    ['a promotion', withItem({ signupPromotion: { vanityCode: { promotionCode: 'CODE' } } }), { discountId: 'CODE' }],
    ['an unknown state', inState('SOMETHING_NEW'), { expirationDate: Date.parse(expiryTime) }],
  ])('maps %s', async (_case, subscription, fields) => {
    const [observation] = await validate(subscription);
    expect(observation).toMatchObject({ asOf: now, purchase: fields });
  });

  it('reports a declined payment as the reason of an end with an outstanding price increase', async () => {
    const held = (await validate(inState('ON_HOLD')))[0]?.purchase;
    const { lineItems } = withDeclinedPrice('PRICE_INCREASE');
    const subscription = { ...canceledBy({ systemInitiatedCancellation: {} }), ...(lineItems && { lineItems }) };
    const context = createGoogleContext({ subscription }, { findPurchase: async () => held });
    const { observations } = await googlePlay.validate(createRequest(), context);
    expect(observations[0]?.purchase.cancelationReason).toBe('System.BillingError');
  });

  it.each([
    ['PRICE_INCREASE', 'OUTSTANDING', 'Notified'],
    ['PRICE_INCREASE', 'CONFIRMED', 'Agreed'],
    ['PRICE_INCREASE', 'APPLIED', 'Agreed'],
    ['OPT_OUT_PRICE_INCREASE', 'CONFIRMED', 'Notified'],
    ['PRICE_DECREASE', 'OUTSTANDING', undefined],
    ['PRICE_INCREASE', 'CANCELED', undefined],
  ])('maps a %s in state %s to the consent %s', async (priceChangeMode, priceChangeState, consent) => {
    const plan = { ...item?.autoRenewingPlan, priceChangeDetails: { priceChangeMode, priceChangeState } };
    const [observation] = await validate(withItem({ autoRenewingPlan: plan }));
    expect(observation?.purchase.priceConsentStatus).toBe(consent);
  });

  it('uses the amount of the order, otherwise of the plan, and zero for a trial', async () => {
    const order: OrderResponse = {
      orderId: 'GPA.1',
      total: { currencyCode: 'USD', units: '3', nanos: 500_000_000 },
      createTime: '2026-11-01T00:00:00Z',
    };
    const getPayment = async (...args: Parameters<typeof validate>) => (await validate(...args))[0]?.transactions[0];
    expect(await getPayment(active, order)).toMatchObject({ currency: 'USD', amountMicros: 3_500_000 });
    expect(await getPayment(active)).toMatchObject({ currency: 'EUR', amountMicros: 4_990_000 });
    expect(await getPayment(withItem({ offerPhase: { freeTrial: {} } }))).toMatchObject({ amountMicros: 0 });
    expect(await getPayment(active, { ...order, state: 'REFUNDED', lastEventTime: expiryTime })).toMatchObject({
      refundedAt: Date.parse(expiryTime),
    });
  });

  describe('after its expiryTime, for the day that Google Play waits for a declined payment', () => {
    const end = Date.parse(expiryTime);
    const validateAt = async (at: number, subscription: SubscriptionResponse) => {
      const context = createGoogleContext({ subscription }, { now: () => at });
      const { observations } = await googlePlay.validate(createRequest(), context);
      return observations.find(({ purchase }) => purchase.productId === 'store_b:premium');
    };

    it.each([
      ['a second', 1_000, dayMs],
      ['a day', dayMs, dayMs + 10 * minuteMs],
      ['two days', 2 * dayMs, 2 * dayMs + 10 * minuteMs],
    ])('keeps access after %s', async (_time, sinceMs, untilMs) => {
      const observation = await validateAt(end + sinceMs, active);
      expect(observation?.purchase).toMatchObject({
        expirationDate: end + untilMs,
        renewalIntent: 'Renew',
        isBillingRetryPeriod: false,
      });
      expect(observation?.transactions).toMatchObject([{ expirationDate: end }]);
    });

    it.each<[string, SubscriptionResponse]>([
      ['disabled auto-renewal', withItem({ autoRenewingPlan: {} })],
      ['a prepaid plan', withItem({ autoRenewingPlan: undefined, prepaidPlan: {} })],
      ['an account hold', inState('ON_HOLD')],
      ['a canceled subscription', inState('CANCELED')],
      [
        'another item that continues',
        { ...active, lineItems: [item ?? {}, { ...item, productId: 'extra', expiryTime: '2027-12-21T12:00:00Z' }] },
      ],
    ])('ends with its expiryTime for %s', async (_case, subscription) => {
      const observation = await validateAt(end + 1_000, subscription);
      expect(observation?.purchase.expirationDate).toBe(end);
    });

    it.each<[string, NonNullable<SubscriptionResponse['canceledStateContext']>, string, string]>([
      ['the declined payment', { systemInitiatedCancellation: {} }, 'PROCESSED', 'System.BillingError'],
      ['a revocation', { systemInitiatedCancellation: {} }, 'REFUNDED', 'System'],
      ['the customer', { userInitiatedCancellation: {} }, 'PROCESSED', 'Customer'],
    ])('reports the same reason in every query after its end by %s', async (_case, context, state, reason) => {
      const order: OrderResponse = {
        orderId: 'GPA.1',
        createTime: '2026-11-21T12:00:00Z',
        lineItems: [{ productId: 'premium', subscriptionDetails: { servicePeriodEndTime: expiryTime } }],
      };
      let stored = await validateAt(end + hourMs, active);
      for (const at of [end + dayMs + hourMs, end + 2 * dayMs]) {
        const google = createGoogleContext(
          { subscription: canceledBy(context), order: { ...order, state } },
          {
            now: () => at,
            findPurchase: async () => stored?.purchase,
            listTransactions: async () => stored?.transactions ?? [],
          },
        );
        [stored] = (await googlePlay.validate(createRequest(), google)).observations;
        expect(stored?.purchase.cancelationReason).toBe(reason);
      }
    });

    it('does not move the period of the renewal', async () => {
      const late = await validateAt(end + 1_000, active);
      const renewedAt = end + 10 * hourMs;
      const subscription = withItem({ latestSuccessfulOrderId: 'GPA.1..0', expiryTime: '2027-01-21T12:00:00Z' });
      const context = createGoogleContext(
        { subscription },
        {
          now: () => renewedAt,
          findPurchase: async () => late?.purchase,
          listTransactions: async () => late?.transactions ?? [],
        },
      );
      const [renewed] = (await googlePlay.validate(createRequest(), context)).observations;
      expect(renewed?.transactions).toMatchObject([
        { purchaseDate: end, expirationDate: Date.parse('2027-01-21T12:00:00Z') },
      ]);
    });
  });

  it('returns the country of the store and the kind of the offer', async () => {
    const [observation] = await validate({ ...withItem({ offerPhase: { introductoryPrice: {} } }), regionCode: 'DE' });
    expect(observation?.transactions).toMatchObject([{ storefront: 'DE', offerType: 'introductoryPrice' }]);
  });

  it.each(['IN_GRACE_PERIOD', 'ON_HOLD', 'PENDING'])(
    'returns no transaction for the unpaid order of state %s',
    async (state) => {
      const unpaid = {
        ...withItem({ latestSuccessfulOrderId: undefined }),
        subscriptionState: `SUBSCRIPTION_STATE_${state}`,
        inGracePeriodStateContext: { renewalDeclined: { pendingOrderId: 'GPA.1..0' } },
      };
      const [observation] = await validate(unpaid);
      expect(observation?.transactions).toEqual([]);
    },
  );

  it.each([1, -1])('returns a purchase for each line item in any order except deferred replacements', async (order) => {
    const owned = [item ?? {}, { ...item, productId: 'extra' }].sort(() => order);
    const { latestSuccessfulOrderId: _unpaid, ...next } = { ...item, productId: 'next' };
    const ids = (await validate({ ...active, lineItems: [...owned, next] })).map(({ purchase }) => purchase.purchaseId);
    expect(ids).toEqual(['store_b:token-1', 'store_b:token-1:premium']);
  });

  it.each([1, -1])('returns the later of two base plans of a product in any order', async (order) => {
    const ended = { ...item, latestSuccessfulOrderId: 'GPA.0', expiryTime: '2026-01-01T00:00:00Z' };
    const observations = await validate({ ...active, lineItems: [item ?? {}, ended].sort(() => order) });
    expect(observations.map(({ purchase }) => purchase.expirationDate)).toEqual([Date.parse(expiryTime)]);
  });

  it('returns the account ids of the app and of the Play Store as aliases', async () => {
    const subscription = {
      ...active,
      externalAccountIdentifiers: { obfuscatedExternalAccountId: 'a' },
      outOfAppPurchaseContext: { expiredExternalAccountIdentifiers: { obfuscatedExternalAccountId: 'b' } },
    };
    expect((await validate(subscription))[0]?.userAliases).toEqual(['a', 'b']);
  });

  it('removes personal data from the native transaction', async () => {
    const subscription = { ...active, subscribeWithGoogleInfo: { emailAddress: 'ann@example.com' } };
    const { nativeTransaction } = await googlePlay.validate(createRequest(), createGoogleContext({ subscription }));
    expect(nativeTransaction).toMatchObject({
      kind: 'androidpublisher#subscriptionPurchaseV2',
      startTime: active.startTime,
    });
    expect(JSON.stringify(nativeTransaction)).not.toContain('ann@example.com');
  });
});

describe('validate (Google Play) of a one-time product', () => {
  const purchased: ProductResponse = {
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
  const validateProduct = async (product: ProductResponse) =>
    (
      await googlePlay.validate(
        { ...createRequest('consumable'), priceMicros: 1_000_000, currency: 'EUR' },
        createGoogleContext({ product }),
      )
    ).observations[0];

  it.each<[string, ProductResponse, object]>([
    [
      'the ids and dates',
      purchased,
      {
        purchaseId: 'store_b:token-1',
        transactionId: 'store_b:GPA.2',
        purchaseDate: Date.parse('2026-11-20T00:00:00Z'),
      },
    ],
    ['the quantity', purchased, { quantity: 2, isAcknowledged: false, isConsumed: false }],
    ['a test purchase', { ...purchased, testPurchaseContext: { fopType: 'TEST' } }, { sandbox: true }],
    ['a pending purchase', { ...purchased, purchaseStateContext: { purchaseState: 'PENDING' } }, { isPending: true }],
    [
      'a canceled purchase',
      { ...purchased, purchaseStateContext: { purchaseState: 'CANCELLED' } },
      { endedAt: Date.parse('2026-11-20T00:00:00Z'), cancelationReason: 'Unknown' },
    ],
    [
      'a consumed product',
      {
        ...purchased,
        productLineItem: [
          { productId: 'premium', productOfferDetails: { consumptionState: 'CONSUMPTION_STATE_CONSUMED' } },
        ],
      },
      { isConsumed: true, quantity: 1 },
    ],
  ])('maps %s', async (_case, product, fields) => {
    expect((await validateProduct(product))?.purchase).toMatchObject(fields);
  });

  it('multiplies the reported price by the quantity if the order cannot be read', async () => {
    expect((await validateProduct(purchased))?.transactions).toMatchObject([
      { amountMicros: 2_000_000, currency: 'EUR', isReportedAmount: true },
    ]);
  });

  it.each([{}, { orderId: '' }])('counts no money for a promotion code, which makes no order (%j)', async (order) => {
    const { orderId: _orderId, ...promoted } = purchased;
    const observation = await validateProduct({ ...promoted, ...order, obfuscatedExternalAccountId: '' });
    expect(observation).toMatchObject({ userAliases: [], purchase: { transactionId: 'store_b:token-1' } });
    expect(observation?.transactions).toMatchObject([
      { transactionId: 'store_b:token-1', amountMicros: 0, currency: 'EUR' },
    ]);
    expect(observation?.transactions[0]).not.toHaveProperty('isReportedAmount');
  });
});
