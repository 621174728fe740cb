import { describe, expect, it } from '@jest/globals';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { computePurchaseChange } from '../../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../../lib/purchases/stored-purchase.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { createGoogleContext, createRequest, type OrderResponse, type SubscriptionResponse } from './fake-google.ts';

const usd = (units: string) => ({ currencyCode: 'USD', units });

const buildItem = (productId: string, changes: object = {}) => ({
  productId,
  expiryTime: '2026-12-01T00:00:00Z',
  latestSuccessfulOrderId: 'GPA.2',
  autoRenewingPlan: { autoRenewEnabled: true, recurringPrice: usd('20') },
  offerDetails: { basePlanId: 'monthly' },
  ...changes,
});

const buildSubscription = (
  lineItems: SubscriptionResponse['lineItems'],
  changes: object = {},
): SubscriptionResponse => ({
  startTime: '2026-11-01T00:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  ...(lineItems && { lineItems }),
  ...changes,
});

const buildOrder = (total: string, changes: object = {}): OrderResponse => ({
  orderId: 'GPA.2',
  purchaseToken: 'token-1',
  state: 'PROCESSED',
  createTime: '2026-11-01T00:00:00Z',
  total: usd(total),
  lineItems: [{ productId: 'premium', total: usd(total), subscriptionDetails: { basePlanId: 'monthly' } }],
  ...changes,
});

const at = Date.parse('2026-12-01T00:10:00Z');

async function observe(
  subscription: SubscriptionResponse,
  order?: OrderResponse,
  context: Parameters<typeof createGoogleContext>[1] = {},
): Promise<readonly Observation[]> {
  const fake = createGoogleContext({ subscription, ...(order && { order }) }, { now: () => at, ...context });
  return (await googlePlay.validate(createRequest(), fake)).observations;
}

const renewedItem = (changes: object = {}) =>
  buildItem('basic', {
    expiryTime: '2027-01-01T00:00:00Z',
    latestSuccessfulOrderId: 'GPA.2..0',
    itemReplacement: { productId: 'premium', replacementMode: 'DEFERRED' },
    ...changes,
  });
const replacedItem = buildItem('premium', { autoRenewingPlan: {} });
const renewalOrder = buildOrder('10', {
  orderId: 'GPA.2..0',
  createTime: '2026-12-01T00:00:05Z',
  lineItems: [{ productId: 'basic', total: usd('10'), subscriptionDetails: { basePlanId: 'monthly' } }],
});

/** The stored replaced product has the id of the token. */
const withStored = { findPurchase: async (id: string) => (id === 'store_b:token-1' ? stored : undefined) };
const stored = { purchaseId: 'store_b:token-1', productId: 'store_b:premium' } as never;

describe('validate (Google Play) after a deferred plan change', () => {
  it.each([
    ['with its order', renewalOrder, Date.parse('2026-12-01T00:00:05Z')],
    ['without a readable order', undefined, Date.parse('2026-12-01T00:00:00Z')],
  ])('starts the new product with its first payment, %s', async (_case, order, date) => {
    const observations = await observe(buildSubscription([replacedItem, renewedItem()]), order, withStored);
    const started = observations.find(({ purchase }) => purchase.productId === 'store_b:basic');
    expect(started?.purchase.purchaseDate).toBe(date);
    expect(started?.purchase).not.toHaveProperty('lastRenewalDate');
    expect(started?.transactions).toMatchObject([{ transactionId: 'store_b:GPA.2..0', purchaseDate: date }]);
  });

  it('announces the new product with PLAN_CHANGED', async () => {
    const chosen = buildItem('premium', { deferredItemReplacement: { productId: 'basic' } });
    const before = await observe(
      buildSubscription([chosen, buildItem('basic', { expiryTime: undefined, latestSuccessfulOrderId: undefined })]),
      buildOrder('20'),
    );
    const update = {
      trigger: 'notification',
      strategy: 'all',
      now: at,
      claim: { username: 'ann', source: 'validation' },
    } as const;
    const omitToken = ({ refreshToken: _token, ...observation }: Observation) => observation;
    const replacedPurchase = computePurchaseChange(undefined, {
      ...update,
      observation: omitToken(before[0] as Observation),
    })?.after as StoredPurchase;
    const after = await observe(buildSubscription([replacedItem, renewedItem()]), renewalOrder, withStored);
    const started = after.find(({ purchase }) => purchase.productId === 'store_b:basic') as Observation;
    const change = computePurchaseChange(undefined, { ...update, observation: omitToken(started), replacedPurchase });
    expect(change?.lifecycleReasons).toEqual(['PLAN_CHANGED']);
  });
});

describe('validate (Google Play) after a plan change', () => {
  const changeWith = (replacementMode: string | undefined, changes: object = {}) =>
    buildSubscription([
      buildItem('premium', {
        itemReplacement: { productId: 'basic', ...(replacementMode && { replacementMode }) },
        offerPhase: { basePrice: {} },
        ...changes,
      }),
    ]);

  it.each([
    ['WITHOUT_PRORATION', undefined],
    ['WITH_TIME_PRORATION', undefined],
    ['CHARGE_PRORATED_PRICE', undefined],
    ['CHARGE_FULL_PRICE', 20_000_000],
    ['KEEP_EXISTING', 20_000_000],
  ])('counts only a payment that is certain without a readable order: %s', async (mode, amountMicros) => {
    const [observation] = await observe(changeWith(mode));
    expect(observation?.transactions[0]?.amountMicros).toBe(amountMicros);
  });

  it('counts the price of the renewal after a plan change', async () => {
    const [observation] = await observe(changeWith('CHARGE_PRORATED_PRICE', { latestSuccessfulOrderId: 'GPA.2..0' }));
    expect(observation?.transactions[0]?.amountMicros).toBe(20_000_000);
  });

  it('reports the price of the plan with a prorated payment', async () => {
    const catalogue = { premium: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    const [observation] = await observe(changeWith('CHARGE_PRORATED_PRICE'), buildOrder('4'), { catalogue });
    expect(observation?.transactions[0]).toMatchObject({
      amountMicros: 4_000_000,
      plan: { amountMicros: 20_000_000, period: 'P1M' },
    });
    const [whole] = await observe(changeWith('CHARGE_FULL_PRICE'), buildOrder('20'), { catalogue });
    expect(whole?.transactions[0]).not.toHaveProperty('plan');
  });

  it.each([
    ['P1M', '2026-12-10T00:00:00Z', { amountMicros: 20_000_000, period: 'P1M' }],
    ['P1M', '2027-11-10T00:00:00Z', undefined],
    ['P1Y', '2026-12-10T00:00:00Z', undefined],
  ] as const)('reports the price of a period that the former plan extends: %s until %s', async (period, end, plan) => {
    const catalogue = { premium: { type: 'paid subscription', billingPeriod: period } } as const;
    const change = changeWith('CHARGE_FULL_PRICE', { expiryTime: end });
    const [observation] = await observe(change, buildOrder('20'), { catalogue });
    expect(observation?.transactions[0]?.plan).toEqual(plan);
  });

  it('adds the tax of the payment to the price of an extended period', async () => {
    const catalogue = { premium: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    const change = changeWith('CHARGE_FULL_PRICE', { expiryTime: '2026-12-10T00:00:00Z' });
    const [observation] = await observe(change, buildOrder('24', { tax: usd('4') }), { catalogue });
    expect(observation?.transactions[0]?.plan).toEqual({
      amountMicros: 24_000_000,
      taxMicros: 4_000_000,
      period: 'P1M',
    });
  });

  it.each([
    [false, 25_000_000],
    [true, 20_000_000],
  ])(
    'reports the price of the plan with its tax if listed prices include tax: %s',
    async (taxInclusive, amountMicros) => {
      const catalogue = { premium: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
      const order = buildOrder('5', { tax: usd('1'), orderDetails: { taxInclusive } });
      const [observation] = await observe(changeWith('CHARGE_PRORATED_PRICE'), order, { catalogue });
      expect(observation?.transactions[0]?.plan).toEqual({ amountMicros, period: 'P1M' });
    },
  );

  interface PaidOrder {
    readonly start: string;
    readonly end: string;
    readonly total: string;
    readonly phase?: string;
    readonly isUnreadable?: true;
    /** The payment changed the plan, too. */
    readonly isProrated?: true;
  }

  /** Observes the payment of a plan change without the new product in the catalogue. */
  const observeChangeOf = async (replaced: PaidOrder, replacementMode: string, paid: PaidOrder) => {
    const { phase = 'basePrice' } = replaced;
    const item = { expiryTime: paid.start, latestSuccessfulOrderId: 'GPA.1', offerPhase: { [phase]: {} } };
    const change = { productId: 'free', replacementMode: 'CHARGE_PRORATED_PRICE' };
    const before = buildSubscription(
      [buildItem('basic', { ...item, ...(replaced.isProrated && { itemReplacement: change }) })],
      { startTime: replaced.start, subscriptionState: 'SUBSCRIPTION_STATE_EXPIRED' },
    );
    const itemReplacement = { productId: 'basic', replacementMode };
    const after = buildSubscription([buildItem('premium', { expiryTime: paid.end, itemReplacement })], {
      startTime: paid.start,
      linkedPurchaseToken: 'token-0',
    });
    const toOrder = (orderId: string, purchaseToken: string, { start, end, total, phase: paidPhase }: PaidOrder) => {
      const dates = { servicePeriodStartTime: start, servicePeriodEndTime: end };
      const subscriptionDetails = { ...dates, offerPhaseDetails: { [`${paidPhase ?? 'basePrice'}Details`]: {} } };
      const productId = orderId === 'GPA.1' ? 'basic' : 'premium';
      const lineItems = [{ productId, total: usd(total), subscriptionDetails }];
      return buildOrder(total, { orderId, purchaseToken, createTime: start, lineItems });
    };
    const responses = new Map<string, object>([
      ['token-0', before],
      ['token-1', after],
      ...(replaced.isUnreadable ? [] : [['GPA.1', toOrder('GPA.1', 'token-0', replaced)] as const]),
      ['GPA.2', toOrder('GPA.2', 'token-1', paid)],
    ]);
    const catalogue = { basic: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    const { fetch, ...fake } = createGoogleContext({}, { now: () => at, catalogue });
    const { observations } = await googlePlay.validate(createRequest(), {
      ...fake,
      fetch: async (url, init) => {
        const body = responses.get(url.split('/').at(-1) ?? '');
        return body ? { status: 200, headers: {}, text: JSON.stringify(body) } : await fetch(url, init);
      },
    });
    return observations[0]?.transactions[0];
  };
  const june = { start: '2026-06-20T00:00:00Z', end: '2026-07-20T00:00:00Z', total: '10' };
  const february = { start: '2026-02-10T00:00:00Z', end: '2026-03-10T00:00:00Z', total: '10' };
  const restOfFebruary = { start: '2026-02-20T00:00:00Z', end: '2026-03-10T00:00:00Z', total: '4' };

  it('does not take a longer month for a period that the former plan extends', async () => {
    const july = { start: '2026-07-05T00:00:00Z', end: '2026-08-05T00:00:00Z', total: '20' };
    const payment = await observeChangeOf(june, 'CHARGE_FULL_PRICE', july);
    expect(payment).toMatchObject({ amountMicros: 20_000_000 });
    expect(payment).not.toHaveProperty('plan');
  });

  it('reports the price of a calendar month with a prorated payment', async () => {
    const payment = await observeChangeOf(february, 'CHARGE_PRORATED_PRICE', restOfFebruary);
    expect(payment?.plan).toEqual({ amountMicros: 20_000_000, period: 'P1M' });
  });

  it('reports the price of a calendar month after two prorated changes', async () => {
    const changed = { ...february, start: '2026-02-15T00:00:00Z', isProrated: true } as const;
    const payment = await observeChangeOf(changed, 'CHARGE_PRORATED_PRICE', restOfFebruary);
    expect(payment?.plan).toEqual({ amountMicros: 20_000_000, period: 'P1M' });
  });

  it('does not take the length of a free trial for the period of the next plan', async () => {
    const trial = { ...february, end: '2026-02-24T00:00:00Z', total: '0', phase: 'freeTrial' };
    const paid = { ...restOfFebruary, end: trial.end };
    expect(await observeChangeOf(trial, 'CHARGE_PRORATED_PRICE', paid)).not.toHaveProperty('plan');
  });

  it('does not take the time before a plan change for the period of the former plan', async () => {
    const unreadable = { ...february, isUnreadable: true } as const;
    expect(await observeChangeOf(unreadable, 'CHARGE_PRORATED_PRICE', restOfFebruary)).not.toHaveProperty('plan');
  });

  it('keeps the price of the plan when the subscription renews', async () => {
    const catalogue = { premium: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    const [changed] = await observe(changeWith('CHARGE_PRORATED_PRICE'), buildOrder('4'), { catalogue });
    const orders = [
      buildOrder('4'),
      buildOrder('20', { orderId: 'GPA.2..0', createTime: '2026-12-01T00:00:00Z' }),
    ] as const;
    const renewed = changeWith('CHARGE_PRORATED_PRICE', {
      latestSuccessfulOrderId: 'GPA.2..0',
      expiryTime: '2027-01-01T00:00:00Z',
    });
    const [observation] = await observe(renewed, { orders } as object, {
      catalogue,
      findPurchase: async () => changed?.purchase,
      listTransactions: async () => changed?.transactions ?? [],
    });
    expect(observation?.transactions).toMatchObject([
      { transactionId: 'store_b:GPA.2..0', amountMicros: 20_000_000 },
      { transactionId: 'store_b:GPA.2', plan: { amountMicros: 20_000_000, period: 'P1M' } },
    ]);
  });
});

describe('validate (Google Play) of a payment', () => {
  /** Observes a subscription that was observed before, and merges both. */
  const observeAgain = async (
    before: Observation | undefined,
    subscription: SubscriptionResponse,
    order?: OrderResponse,
    context: Parameters<typeof createGoogleContext>[1] = {},
  ) => {
    const state = merge(undefined, omitToken(before));
    const stored = state.transactions.map(({ transaction }) => transaction);
    const storedData = { findPurchase: async () => state.purchase, listTransactions: async () => stored };
    const [after] = await observe(subscription, order, { ...context, ...storedData });
    return merge(state, { ...omitToken(after), asOf: at + 1 }).transactions.map(({ transaction }) => transaction);
  };
  const omitToken = (observation: Observation | undefined) => {
    const { refreshToken: _token, ...rest } = observation as Observation;
    return rest;
  };
  const trialItem = (changes: object = {}) =>
    buildItem('premium', {
      offerDetails: { basePlanId: 'monthly', offerId: 'trial' },
      offerPhase: { freeTrial: {} },
      ...changes,
    });

  it.each<[string, string, object]>([
    ['while the first paid renewal is declined', 'IN_GRACE_PERIOD', { offerPhase: { basePrice: {} } }],
    ['on account hold', 'ON_HOLD', { offerPhase: { basePrice: {} } }],
    ['after its end', 'EXPIRED', { offerPhase: undefined }],
  ])('stays a free trial without a readable order %s', async (_case, state, changes) => {
    const [trial] = await observe(buildSubscription([trialItem()]));
    const ended = buildSubscription([trialItem(changes)], { subscriptionState: `SUBSCRIPTION_STATE_${state}` });
    expect(await observeAgain(trial, ended)).toMatchObject([{ amountMicros: 0, isTrialPeriod: true }]);
    // The first observation does not show what was paid.
    const [first] = await observe(ended);
    expect(first?.transactions[0]).not.toHaveProperty('amountMicros');
  });

  it('stays a free trial with its order while the first paid renewal is declined', async () => {
    const subscriptionDetails = { basePlanId: 'monthly', offerPhaseDetails: { freeTrialDetails: {} } };
    const order = buildOrder('0', { lineItems: [{ productId: 'premium', total: usd('0'), subscriptionDetails }] });
    const declined = buildSubscription([trialItem({ offerPhase: { basePrice: {} } })], {
      subscriptionState: 'SUBSCRIPTION_STATE_IN_GRACE_PERIOD',
    });
    const [observation] = await observe(declined, order);
    expect(observation?.transactions).toMatchObject([{ amountMicros: 0, isTrialPeriod: true, offerType: 'freeTrial' }]);
    expect(observation?.purchase.isTrialPeriod).toBeUndefined();
  });

  it('keeps the amount of a payment without a readable order when the price of the plan changes', async () => {
    const [bought] = await observe(buildSubscription([buildItem('premium')]));
    const raised = { autoRenewingPlan: { autoRenewEnabled: true, recurringPrice: usd('30') } };
    expect(await observeAgain(bought, buildSubscription([buildItem('premium', raised)]))).toMatchObject([
      { amountMicros: 20_000_000 },
    ]);
  });

  it.each([
    ['with its order', buildOrder('4'), { amountMicros: 4_000_000, plan: { amountMicros: 20_000_000, period: 'P1M' } }],
    ['without a readable order', undefined, {}],
  ])(
    'keeps that it was prorated when Google Play no longer names the replaced item, %s',
    async (_case, order, paid) => {
      const catalogue = { premium: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
      const itemReplacement = { productId: 'basic', replacementMode: 'CHARGE_PRORATED_PRICE' };
      const [changed] = await observe(buildSubscription([buildItem('premium', { itemReplacement })]), order, {
        catalogue,
      });
      const [payment] = await observeAgain(changed, buildSubscription([buildItem('premium')]), order, { catalogue });
      expect(payment).toMatchObject(paid);
      expect(payment?.amountMicros).toBe(order && 4_000_000);
    },
  );

  it('dates the payment of a pending purchase when the subscription starts', async () => {
    const orderHistory = { processedEvent: { eventTime: '2026-11-01T00:00:00Z' } };
    const order = buildOrder('20', { createTime: '2026-10-30T00:00:00Z', orderHistory });
    const [observation] = await observe(buildSubscription([buildItem('premium')]), order);
    expect(observation?.purchase.purchaseDate).toBe(Date.parse('2026-11-01T00:00:00Z'));
    expect(observation?.transactions[0]).toMatchObject({ purchaseDate: Date.parse('2026-11-01T00:00:00Z') });
  });

  it('keeps the date of an order that is made shortly before the subscription starts', async () => {
    const order = buildOrder('20', { createTime: '2026-10-31T23:59:50Z' });
    const [observation] = await observe(buildSubscription([buildItem('premium')]), order);
    expect(observation?.transactions[0]).toMatchObject({ purchaseDate: Date.parse('2026-10-31T23:59:50Z') });
  });

  it.each([
    [
      'the line of the product',
      [
        { productId: 'premium', total: usd('12'), tax: usd('2') },
        { productId: 'extra', total: usd('8'), tax: usd('1') },
      ],
      2_000_000,
    ],
    ['the only line', [{ productId: 'premium', total: usd('20'), tax: usd('3') }], 3_000_000],
    ['the order', [{ productId: 'premium', total: usd('20') }], 4_000_000],
  ])('reports the tax of %s', async (_case, lineItems, taxMicros) => {
    const order = buildOrder('20', { tax: usd('4'), lineItems });
    const [observation] = await observe(buildSubscription([buildItem('premium')]), order);
    expect(observation?.transactions[0]).toMatchObject({ taxMicros });
  });
});
