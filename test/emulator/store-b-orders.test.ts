import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type StoreBClient, startStoreBClient, startTime } from './store-b-client-app.ts';

let user: StoreBClient;
beforeAll(async () => {
  user = await startStoreBClient();
});
afterAll(() => user.close());

const usd = (units: string, cents = 0) => ({
  currencyCode: 'USD',
  units,
  ...(cents > 0 && { nanos: cents * 10_000_000 }),
});
const buyCoins = async (order: object = {}) =>
  (await user.buy({ productId: 'coins', type: 'consumable', priceMicros: 1_990_000, ...order })).body;

const post = (path: string) => user.api(path, { method: 'POST' });

describe('the first order', () => {
  it('of a trial costs nothing, and the second the price', async () => {
    const { id } = (await user.buy({ productId: 'tried', trial: 'P1W' })).body;
    const { lineItems, latestOrderId } = (await user.subscription(id)).body;
    expect(lineItems).toMatchObject([
      {
        expiryTime: '2027-02-07T10:00:00.000Z',
        offerDetails: { basePlanId: 'p1m', offerId: 'freetrial' },
        offerPhase: { freeTrial: {} },
        autoRenewingPlan: { recurringPrice: usd('4', 99) },
      },
    ]);
    expect((await user.order(latestOrderId)).body).toMatchObject({
      total: usd('0'),
      lineItems: [{ listingPrice: usd('4', 99), subscriptionDetails: { offerPhaseDetails: { freeTrialDetails: {} } } }],
    });
    expect(await user.act(id, 'refund')).toMatchObject({ status: 422 });
    await user.act(id, 'renew');
    const renewed = (await user.subscription(id)).body;
    expect(renewed.lineItems[0]).toMatchObject({
      expiryTime: '2027-03-07T10:00:00.000Z',
      offerPhase: { basePrice: {} },
    });
    expect(renewed.lineItems[0].offerDetails).toEqual({ basePlanId: 'p1m' });
    expect((await user.order(renewed.latestOrderId)).body.total).toEqual(usd('4', 99));
  });

  it('of an intro costs its price', async () => {
    const { id } = (await user.buy({ productId: 'introduced', intro: { priceMicros: 1_000_000 } })).body;
    const { lineItems, latestOrderId } = (await user.subscription(id)).body;
    expect(lineItems).toMatchObject([{ offerDetails: { offerId: 'intro' }, offerPhase: { introductoryPrice: {} } }]);
    expect((await user.order(latestOrderId)).body.total).toEqual(usd('1'));
  });
});

describe('orders', () => {
  it('are as Google writes them', async () => {
    const { id, orderIds } = await buyCoins({ quantity: 2 });
    expect((await user.order(orderIds[0])).body).toMatchObject({
      orderId: orderIds[0],
      purchaseToken: id,
      state: 'PROCESSED',
      createTime: new Date(startTime).toISOString(),
      total: usd('3', 98),
      lineItems: [{ productId: 'coins', total: usd('3', 98), oneTimePurchaseDetails: { quantity: 2 } }],
      orderHistory: { processedEvent: { eventTime: new Date(startTime).toISOString() } },
    });
  });

  it('come in batches, of which each must be there', async () => {
    const [one, other] = [(await buyCoins()).orderIds[0], (await buyCoins()).orderIds[0]];
    const { orders } = (await user.api(`orders:batchGet?orderIds=${one}&orderIds=${other}`)).body;
    expect(orders).toMatchObject([{ orderId: one }, { orderId: other }]);
    expect(await user.api(`orders:batchGet?orderIds=${one}&orderIds=GPA.0`)).toMatchObject({ status: 404 });
    expect(await user.api(`orders:batchGet?orderIds=${one}&orderIds=${one}`)).toMatchObject({ status: 400 });
    expect(await user.api('orders:batchGet')).toMatchObject({ status: 400 });
    expect(await user.order('GPA.0')).toMatchObject({ status: 404 });
  });

  it('of a subscription are refunded one by one, without an end and without being void', async () => {
    const { id } = (await user.buy({ productId: 'refunded' })).body;
    const { orderIds } = (await user.act(id, 'renew')).body;
    expect((await user.act(id, 'refund', { transactionId: orderIds[0] })).body.notifications).toEqual([]);
    expect((await user.order(orderIds[0])).body).toMatchObject({
      state: 'REFUNDED',
      orderHistory: { refundEvent: { refundDetails: { total: usd('4', 99) } } },
    });
    expect((await user.order(orderIds[1])).body.state).toBe('PROCESSED');
    expect((await user.subscription(id)).body.subscriptionState).toBe('SUBSCRIPTION_STATE_ACTIVE');
    const { voidedPurchases = [] } = (await user.api('purchases/voidedpurchases?type=1')).body;
    expect(voidedPurchases).not.toContainEqual(expect.objectContaining({ purchaseToken: id }));
    expect(await user.act(id, 'refund', { transactionId: 'GPA.0' })).toMatchObject({ status: 422 });
  });
});

describe('a one-time product', () => {
  it('is as Google writes it, in both versions', async () => {
    const { id } = await buyCoins({ quantity: 3, sandbox: true, applicationUsername: 'Ann' });
    const account = { obfuscatedExternalAccountId: '82e335f7ac0e0e412b2ae15abe662110' };
    expect((await user.product(id)).body).toEqual({
      kind: 'androidpublisher#productPurchaseV2',
      productLineItem: [
        {
          productId: 'coins',
          productOfferDetails: {
            purchaseOptionId: 'buy',
            quantity: 3,
            refundableQuantity: 3,
            consumptionState: 'CONSUMPTION_STATE_YET_TO_BE_CONSUMED',
          },
        },
      ],
      purchaseStateContext: { purchaseState: 'PURCHASED' },
      testPurchaseContext: { fopType: 'TEST' },
      orderId: expect.stringMatching(/^GPA\./),
      ...account,
      regionCode: 'US',
      purchaseCompletionTime: new Date(startTime).toISOString(),
      acknowledgementState: 'ACKNOWLEDGEMENT_STATE_PENDING',
    });
    expect((await user.api(`purchases/products/coins/tokens/${id}`)).body).toMatchObject({
      purchaseState: 0,
      consumptionState: 0,
      acknowledgementState: 0,
      purchaseType: 0,
      purchaseTimeMillis: String(startTime),
      quantity: 3,
      ...account,
    });
  });

  it('is acknowledged and consumed, any number of times, and can then be bought again', async () => {
    const order = { productId: 'lives', type: 'consumable', applicationUsername: 'gamer' };
    const { id } = (await user.buy(order)).body;
    expect(await user.buy(order)).toMatchObject({ status: 422 });
    const path = `purchases/products/lives/tokens/${id}`;
    for (const _time of [1, 2]) expect(await post(`${path}:acknowledge`)).toMatchObject({ status: 204, body: '' });
    expect((await user.api(path)).body).toMatchObject({ acknowledgementState: 1, consumptionState: 0 });
    for (const _time of [1, 2]) expect(await post(`${path}:consume`)).toMatchObject({ status: 204, body: '' });
    expect((await user.api(path)).body).toMatchObject({ acknowledgementState: 1, consumptionState: 1 });
    expect(await user.buy(order)).toMatchObject({ status: 200 });
  });

  it.each(['refund', 'revoke'])('is cancelled and void after a %s', async (action) => {
    const { id, orderIds } = await buyCoins();
    expect((await user.act(id, action)).body).toMatchObject({
      state: 'CANCELLED',
      notifications: [{ voidedPurchaseNotification: { purchaseToken: id, orderId: orderIds[0], productType: 2 } }],
    });
    expect((await user.product(id)).body.purchaseStateContext).toEqual({ purchaseState: 'CANCELLED' });
    expect((await user.api(`purchases/products/coins/tokens/${id}`)).body.purchaseState).toBe(1);
    expect((await user.order(orderIds[0])).body.state).toBe('REFUNDED');
    expect(await user.act(id, action)).toMatchObject({ status: 422 });
    expect(await post(`purchases/products/coins/tokens/${id}:consume`)).toMatchObject({ status: 400 });
  });

  it("is paid back in part, and stays the customer's", async () => {
    const { id, orderIds } = await buyCoins({ quantity: 3 });
    const { body } = await user.act(id, 'refund', { quantity: 1 });
    expect(body).toMatchObject({
      state: 'PURCHASED',
      notifications: [{ voidedPurchaseNotification: { purchaseToken: id, orderId: orderIds[0], refundType: 2 } }],
    });
    expect((await user.api(`purchases/products/coins/tokens/${id}`)).body).toMatchObject({
      purchaseState: 0,
      quantity: 3,
      refundableQuantity: 2,
    });
    const { total } = (await user.order(orderIds[0])).body;
    expect((await user.order(orderIds[0])).body).toMatchObject({
      state: 'PARTIALLY_REFUNDED',
      orderHistory: { partialRefundEvents: [{ state: 'PROCESSED_SUCCESSFULLY' }] },
    });
    expect(await user.act(id, 'refund', { quantity: 3 })).toMatchObject({ status: 422 });
    const list = async (query: string) => (await user.api(`purchases/voidedpurchases${query}`)).body.voidedPurchases;
    const mine = expect.objectContaining({ purchaseToken: id });
    expect((await list('')) ?? []).not.toContainEqual(mine);
    expect(await list('?includeQuantityBasedPartialRefund=true')).toContainEqual(
      expect.objectContaining({ purchaseToken: id, voidedQuantity: 1 }),
    );
    expect((await user.act(id, 'refund', { quantity: 2 })).body.state).toBe('CANCELLED');
    expect((await user.order(orderIds[0])).body).toMatchObject({ state: 'REFUNDED', total });
    expect(await list('')).toContainEqual(mine);
  });

  it.each(['renew', 'cancel', 'pause', 'expire', 'change-plan'])('knows no %s', async (action) => {
    const { id } = await buyCoins();
    expect(await user.act(id, action, { productId: 'other' })).toMatchObject({ status: 422 });
  });

  it('has no trial, and a subscription no quantity', async () => {
    expect(await user.buy({ productId: 'key', type: 'non consumable', trial: true })).toMatchObject({ status: 422 });
    expect(await user.buy({ productId: 'many', quantity: 2 })).toMatchObject({ status: 422 });
    const { id } = (await user.buy({ productId: 'one' })).body;
    expect(await user.act(id, 'refund', { quantity: 2 })).toMatchObject({ status: 422 });
    expect(await user.buy({ productId: 'both', trial: true, intro: true })).toMatchObject({ status: 422 });
  });
});

describe('void purchases', () => {
  it('are listed for thirty days, subscriptions when asked for, in pages', async () => {
    const other = await startStoreBClient();
    const list = async (query: string) => (await other.api(`purchases/voidedpurchases${query}`)).body;
    expect(await list('?type=1')).toEqual({});
    const monthly = (await other.buy()).body;
    await other.act(monthly.id, 'revoke');
    const coins = (await other.buy({ productId: 'coins', type: 'consumable' })).body;
    await other.advance('P1D');
    await other.act(coins.id, 'refund');
    expect(await list('')).toEqual({
      voidedPurchases: [
        {
          kind: 'androidpublisher#voidedPurchase',
          purchaseToken: coins.id,
          orderId: coins.orderIds[0],
          purchaseTimeMillis: String(startTime),
          voidedTimeMillis: String(startTime + 86_400_000),
          voidedSource: 1,
          voidedReason: 0,
        },
      ],
    });
    const page = await list('?type=1&maxResults=1');
    expect(page.voidedPurchases).toMatchObject([{ purchaseToken: monthly.id }]);
    const next = await list(`?type=1&maxResults=1&token=${page.tokenPagination.nextPageToken}`);
    expect(next.voidedPurchases).toMatchObject([{ purchaseToken: coins.id }]);
    expect((await list(`?type=1&startTime=${startTime + 1}`)).voidedPurchases).toHaveLength(1);
    expect(await other.api('purchases/voidedpurchases?startTime=1')).toMatchObject({ status: 400 });
    await other.advance('P31D');
    expect(await list('?type=1')).toEqual({});
    await other.close();
  });
});
