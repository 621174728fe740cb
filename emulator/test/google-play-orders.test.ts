import { describe, expect, it } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startGooglePlayClient, startTime } from './google-play-client-app.ts';

const client = startBeforeAll(startGooglePlayClient);

const usd = (units: string, cents = 0) => ({
  currencyCode: 'USD',
  units,
  ...(cents > 0 && { nanos: cents * 10_000_000 }),
});
const buyCoins = async (order: object = {}) =>
  (await client.buy({ productId: 'coins', type: 'consumable', priceMicros: 1_990_000, ...order })).body;

const post = (path: string) => client.api(path, { method: 'POST' });

describe('first order of the emulated Google Play', () => {
  it('costs nothing for a trial, and the second order has the full price', async () => {
    const { id } = (await client.buy({ productId: 'tried', trial: 'P1W' })).body;
    const { lineItems } = (await client.subscription(id)).body;
    expect(lineItems).toMatchObject([
      {
        expiryTime: '2027-02-07T10:00:00.000Z',
        offerDetails: { basePlanId: 'p1m', offerId: 'freetrial' },
        offerPhase: { freeTrial: {} },
        autoRenewingPlan: { recurringPrice: usd('4', 99) },
      },
    ]);
    expect((await client.order(lineItems[0].latestSuccessfulOrderId)).body).toMatchObject({
      total: usd('0'),
      lineItems: [{ listingPrice: usd('4', 99), subscriptionDetails: { offerPhaseDetails: { freeTrialDetails: {} } } }],
    });
    expect(await client.act(id, 'refund')).toMatchObject({ status: 422 });
    await client.act(id, 'renew');
    const renewed = (await client.subscription(id)).body;
    expect(renewed.lineItems[0]).toMatchObject({
      expiryTime: '2027-03-07T10:00:00.000Z',
      offerPhase: { basePrice: {} },
    });
    expect(renewed.lineItems[0].offerDetails).toEqual({ basePlanId: 'p1m' });
    expect((await client.order(renewed.lineItems[0].latestSuccessfulOrderId)).body.total).toEqual(usd('4', 99));
  });

  it('costs the introductory price', async () => {
    const { id } = (await client.buy({ productId: 'introduced', intro: { priceMicros: 1_000_000 } })).body;
    const { lineItems } = (await client.subscription(id)).body;
    expect(lineItems).toMatchObject([{ offerDetails: { offerId: 'intro' }, offerPhase: { introductoryPrice: {} } }]);
    expect((await client.order(lineItems[0].latestSuccessfulOrderId)).body.total).toEqual(usd('1'));
  });
});

describe('orders API of Google Play', () => {
  it('returns no orders without the permission', async () => {
    const { orderIds } = await buyCoins();
    const setReadable = async (readable: boolean) =>
      await client.control('PUT', '/control/orders/store_b', { readable });
    expect(await setReadable(false)).toMatchObject({ status: 200 });
    expect(await client.order(orderIds[0])).toMatchObject({ status: 403 });
    expect(await setReadable(true)).toMatchObject({ status: 200 });
    expect(await client.order(orderIds[0])).toMatchObject({ status: 200 });
  });

  it('returns a partial refund of an amount, which it neither notifies nor lists', async () => {
    const { id, orderIds } = await buyCoins();
    const { body } = await client.act(id, 'refund', { amountMicros: 500_000 });
    expect(body.notifications).toEqual([]);
    expect((await client.order(orderIds[0])).body).toMatchObject({
      state: 'PARTIALLY_REFUNDED',
      orderHistory: { partialRefundEvents: [{ refundDetails: { total: usd('0', 50) } }] },
    });
    expect(await client.act(id, 'refund', { amountMicros: 1_990_000 })).toMatchObject({ status: 422 });
  });

  it('returns the documented members', async () => {
    const { id, orderIds } = await buyCoins({ quantity: 2 });
    expect((await client.order(orderIds[0])).body).toMatchObject({
      orderId: orderIds[0],
      purchaseToken: id,
      state: 'PROCESSED',
      createTime: new Date(startTime).toISOString(),
      total: usd('3', 98),
      lineItems: [{ productId: 'coins', total: usd('3', 98), oneTimePurchaseDetails: { quantity: 2 } }],
      orderHistory: { processedEvent: { eventTime: new Date(startTime).toISOString() } },
    });
  });

  it('returns a batch only if all orders exist', async () => {
    const [first, second] = [(await buyCoins()).orderIds[0], (await buyCoins()).orderIds[0]];
    const { orders } = (await client.api(`orders:batchGet?orderIds=${first}&orderIds=${second}`)).body;
    expect(orders).toMatchObject([{ orderId: first }, { orderId: second }]);
    expect(await client.api(`orders:batchGet?orderIds=${first}&orderIds=GPA.0`)).toMatchObject({ status: 404 });
    expect(await client.api(`orders:batchGet?orderIds=${first}&orderIds=${first}`)).toMatchObject({ status: 400 });
    expect(await client.api('orders:batchGet')).toMatchObject({ status: 400 });
    expect(await client.order('GPA.0')).toMatchObject({ status: 404 });
  });

  it('refunds orders of a subscription separately, without ending or voiding it', async () => {
    const { id } = (await client.buy({ productId: 'refunded' })).body;
    const { orderIds } = (await client.act(id, 'renew')).body;
    expect((await client.act(id, 'refund', { transactionId: orderIds[0] })).body.notifications).toEqual([]);
    expect((await client.order(orderIds[0])).body).toMatchObject({
      state: 'REFUNDED',
      orderHistory: { refundEvent: { refundDetails: { total: usd('4', 99) } } },
    });
    expect((await client.order(orderIds[1])).body.state).toBe('PROCESSED');
    expect((await client.subscription(id)).body.subscriptionState).toBe('SUBSCRIPTION_STATE_ACTIVE');
    const { voidedPurchases = [] } = (await client.api('purchases/voidedpurchases?type=1')).body;
    expect(voidedPurchases).not.toContainEqual(expect.objectContaining({ purchaseToken: id }));
    expect(await client.act(id, 'refund', { transactionId: 'GPA.0' })).toMatchObject({ status: 422 });
  });
});

describe('one-time purchase of Google Play', () => {
  it('returns the documented members in both versions', async () => {
    const { id } = await buyCoins({ quantity: 3, sandbox: true, applicationUsername: 'Ann' });
    const account = { obfuscatedExternalAccountId: '82e335f7ac0e0e412b2ae15abe662110' };
    expect((await client.product(id)).body).toEqual({
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
      acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
    });
    expect((await client.api(`purchases/products/coins/tokens/${id}`)).body).toMatchObject({
      purchaseState: 0,
      consumptionState: 0,
      acknowledgementState: 1,
      purchaseType: 0,
      purchaseTimeMillis: String(startTime),
      quantity: 3,
      ...account,
    });
  });

  it('accepts repeated acknowledge and consume calls, then can be bought again', async () => {
    const order = { productId: 'lives', type: 'consumable', applicationUsername: 'gamer' };
    const { id } = (await client.buy(order)).body;
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    const path = `purchases/products/lives/tokens/${id}`;
    for (const _time of [1, 2]) expect(await post(`${path}:acknowledge`)).toMatchObject({ status: 204, body: '' });
    expect((await client.api(path)).body).toMatchObject({ acknowledgementState: 1, consumptionState: 0 });
    for (const _time of [1, 2]) expect(await post(`${path}:consume`)).toMatchObject({ status: 204, body: '' });
    expect((await client.api(path)).body).toMatchObject({ acknowledgementState: 1, consumptionState: 1 });
    expect(await client.buy(order)).toMatchObject({ status: 200 });
  });

  it.each(['refund', 'revoke'])('becomes canceled and voided after %s', async (action) => {
    const { id, orderIds } = await buyCoins();
    expect((await client.act(id, action)).body).toMatchObject({
      state: 'CANCELLED',
      notifications: [{ voidedPurchaseNotification: { purchaseToken: id, orderId: orderIds[0], productType: 2 } }],
    });
    expect((await client.product(id)).body.purchaseStateContext).toEqual({ purchaseState: 'CANCELLED' });
    expect((await client.api(`purchases/products/coins/tokens/${id}`)).body.purchaseState).toBe(1);
    expect((await client.order(orderIds[0])).body.state).toBe('REFUNDED');
    expect(await client.act(id, action)).toMatchObject({ status: 422 });
    expect(await post(`purchases/products/coins/tokens/${id}:consume`)).toMatchObject({ status: 400 });
  });

  it('stays owned after a partial refund', async () => {
    const { id, orderIds } = await buyCoins({ quantity: 3 });
    const { body } = await client.act(id, 'refund', { quantity: 1 });
    expect(body).toMatchObject({
      state: 'PURCHASED',
      notifications: [{ voidedPurchaseNotification: { purchaseToken: id, orderId: orderIds[0], refundType: 2 } }],
    });
    expect((await client.api(`purchases/products/coins/tokens/${id}`)).body).toMatchObject({
      purchaseState: 0,
      quantity: 3,
      refundableQuantity: 2,
    });
    const { total } = (await client.order(orderIds[0])).body;
    expect((await client.order(orderIds[0])).body).toMatchObject({
      state: 'PARTIALLY_REFUNDED',
      orderHistory: { partialRefundEvents: [{ state: 'PROCESSED_SUCCESSFULLY' }] },
    });
    expect(await client.act(id, 'refund', { quantity: 3 })).toMatchObject({ status: 422 });
    const list = async (query: string) => (await client.api(`purchases/voidedpurchases${query}`)).body.voidedPurchases;
    const mine = expect.objectContaining({ purchaseToken: id });
    expect((await list('')) ?? []).not.toContainEqual(mine);
    expect(await list('?includeQuantityBasedPartialRefund=true')).toContainEqual(
      expect.objectContaining({ purchaseToken: id, voidedQuantity: 1 }),
    );
    expect((await client.act(id, 'refund', { quantity: 2 })).body.state).toBe('CANCELLED');
    expect((await client.order(orderIds[0])).body).toMatchObject({ state: 'REFUNDED', total });
    expect(await list('')).toContainEqual(mine);
  });

  it.each(['renew', 'cancel', 'pause', 'expire', 'change-plan'])('rejects the action %s', async (action) => {
    const { id } = await buyCoins();
    expect(await client.act(id, action, { productId: 'other' })).toMatchObject({ status: 422 });
  });

  it('rejects a trial, and a quantity for a subscription', async () => {
    expect(await client.buy({ productId: 'key', type: 'non consumable', trial: true })).toMatchObject({ status: 422 });
    expect(await client.buy({ productId: 'many', quantity: 2 })).toMatchObject({ status: 422 });
    const { id } = (await client.buy({ productId: 'one' })).body;
    expect(await client.act(id, 'refund', { quantity: 2 })).toMatchObject({ status: 422 });
    expect(await client.buy({ productId: 'both', trial: true, intro: true })).toMatchObject({ status: 422 });
  });
});

describe('GET purchases/voidedpurchases (Google Play)', () => {
  it('lists 30 days in pages, with subscriptions on request', async () => {
    const secondClient = await startGooglePlayClient();
    const list = async (query: string) => (await secondClient.api(`purchases/voidedpurchases${query}`)).body;
    expect(await list('?type=1')).toEqual({});
    const monthly = (await secondClient.buy()).body;
    await secondClient.act(monthly.id, 'revoke');
    const coins = (await secondClient.buy({ productId: 'coins', type: 'consumable' })).body;
    await secondClient.advance('P1D');
    await secondClient.act(coins.id, 'refund');
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
    expect(await secondClient.api('purchases/voidedpurchases?startTime=1')).toMatchObject({ status: 400 });
    await secondClient.advance('P31D');
    expect(await list('?type=1')).toEqual({});
    await secondClient.close();
  });
});

describe('acknowledgement deadline of Google Play', () => {
  const unacknowledged = { acknowledged: false, priceMicros: 9_000_000 };

  it.each([
    ['a subscription', { type: 'paid subscription' }, 'P3D', 'EXPIRED'],
    ['a one-time purchase', { type: 'non consumable' }, 'P3D', 'CANCELLED'],
    ['a prepaid plan of two days', { type: 'paid subscription', period: 'P2D', prepaid: true }, 'P1D', 'EXPIRED'],
  ])('refunds and revokes without an acknowledgement in time: %s', async (_what, order, time, state) => {
    const productId = `unacknowledged ${state} ${time}`;
    const { id, latestOrderId } = (await client.buy({ ...unacknowledged, ...order, productId })).body;
    expect((await client.control('GET', '/control/clock')).body.nextDueTime).toBeDefined();
    await client.advance(time);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect(body).toMatchObject({ state, isAcknowledged: false, refundedMicros: 9_000_000 });
    expect((await client.order(latestOrderId)).body.state).toBe('REFUNDED');
    const { voidedPurchases } = (await client.api('purchases/voidedpurchases?type=1')).body;
    const voided = voidedPurchases.find(({ orderId }: { orderId: string }) => orderId === latestOrderId);
    expect(voided).toMatchObject({ voidedSource: 2, voidedReason: 8 });
  });

  it('starts with the payment of a pending purchase', async () => {
    const { id } = (await client.buy({ ...unacknowledged, productId: 'unpaid', pending: true })).body;
    await client.advance('P5D');
    await client.act(id, 'pay');
    await client.advance('P2D');
    await client.act(id, 'acknowledge');
    await client.advance('P5D');
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect(body).toMatchObject({ state: 'ACTIVE', isAcknowledged: true, refundedMicros: 0 });
  });
});

describe('subscription with add-ons of Google Play', () => {
  const order = { type: 'paid subscription', priceMicros: 10_000_000 };
  let count = 0;
  const buyWithAddOn = async () => {
    const [productId, addOnId] = [`base ${++count}`, `addon ${count}`];
    const { id } = (await client.buy({ ...order, productId, addOns: [{ productId: addOnId, priceMicros: 5_000_000 }] }))
      .body;
    return { id, productId, addOnId };
  };
  const readItems = async (id: string) => {
    const { lineItems, ...purchase } = (await client.subscription(id)).body;
    const items = new Map<string, Record<string, unknown>>();
    for (const { productId, ...item } of lineItems) items.set(productId, item);
    return { items, purchase };
  };
  const orderOf = async (item: unknown) =>
    (await client.order((item as { latestSuccessfulOrderId: string }).latestSuccessfulOrderId)).body;

  it('pays its items in one order with a line for each', async () => {
    const { id, productId, addOnId } = await buyWithAddOn();
    await client.act(id, 'renew');
    const { items } = await readItems(id);
    const renewal = await orderOf(items.get(addOnId));
    expect(renewal).toMatchObject({ orderId: expect.stringMatching(/\.\.0$/), total: usd('15') });
    expect(renewal.lineItems).toMatchObject([
      { productId, total: usd('10') },
      { productId: addOnId, total: usd('5') },
    ]);
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({
      paidMicros: 30_000_000,
      refundedMicros: 0,
      lines: [{ productId }, { productId: addOnId, latestSuccessfulOrderId: renewal.orderId }],
    });
  });

  it('keeps a removed item until the end of its period, in a purchase with its own token', async () => {
    const { id, productId, addOnId } = await buyWithAddOn();
    const successor = (await client.act(id, 'remove-item', { productId: addOnId })).body.id;
    const { items, purchase } = await readItems(successor);
    expect(purchase).toMatchObject({ linkedPurchaseToken: id });
    expect(items.get(addOnId)).toMatchObject({ deferredItemRemoval: {} });
    expect((await orderOf(items.get(productId))).purchaseToken).toBe(id);
    await client.act(successor, 'renew');
    expect([...(await readItems(successor)).items.keys()]).toEqual([productId]);
  });

  it('shows the product of another item after the first one has ended', async () => {
    const [{ id: removing, addOnId: kept, productId }, { id: revoked, ...other }] = [
      await buyWithAddOn(),
      await buyWithAddOn(),
    ];
    const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body.productId;
    const removed = (await client.act(removing, 'remove-item', { productId })).body.id;
    expect(await show(removed)).toBe(productId);
    await client.act(removed, 'renew');
    expect(await show(removed)).toBe(kept);
    await client.act(revoked, 'revoke-item', { productId: other.productId });
    expect(await show(revoked)).toBe(other.addOnId);
  });

  it('charges an added item for the rest of the period', async () => {
    const { id } = (await client.buy({ ...order, productId: 'grown' })).body;
    const successor = (await client.act(id, 'add-item', { productId: 'late addon', priceMicros: 31_000_000 })).body.id;
    const { items } = await readItems(successor);
    expect(items.get('late addon')).toMatchObject({ offerPhase: { prorationPeriod: {} } });
    const { total, lineItems } = await orderOf(items.get('late addon'));
    expect(total.units).toBe('31');
    expect(lineItems).toMatchObject([{ subscriptionDetails: { offerPhaseDetails: { prorationPeriodDetails: {} } } }]);
    expect((await orderOf(items.get('grown'))).total).toEqual(usd('10'));
  });

  it('refunds and ends one item', async () => {
    const { id, productId, addOnId } = await buyWithAddOn();
    const { notifications } = (await client.act(id, 'revoke-item', { productId: addOnId })).body;
    expect(notifications).toMatchObject([{ subscriptionNotification: { notificationType: 17 } }]);
    const { items, purchase } = await readItems(id);
    expect(purchase.subscriptionState).toBe('SUBSCRIPTION_STATE_ACTIVE');
    expect(Date.parse(items.get(addOnId)?.expiryTime as string)).toBe(client.clock.now());
    expect(await orderOf(items.get(productId))).toMatchObject({
      state: 'PARTIALLY_REFUNDED',
      orderHistory: { partialRefundEvents: [{ refundDetails: { total: usd('5') } }] },
    });
    expect(await client.act(id, 'revoke-item', { productId })).toMatchObject({ status: 422 });
  });

  it.each([
    ['recover', 'ACTIVE', 2],
    ['expire', 'CANCELED', 1],
  ])('suspends all items while the payment of one is declined, until %s', async (action, state, activeCount) => {
    const { id, productId, addOnId } = await buyWithAddOn();
    const paidUntil = Date.parse((await readItems(id)).items.get(productId)?.expiryTime as string);
    const isActive = ({ expiryTime }: Record<string, unknown>) => Date.parse(String(expiryTime)) > client.clock.now();
    const countActive = async () => [...(await readItems(id)).items.values()].filter(isActive).length;
    await client.act(id, 'fail-payment', { productId: addOnId });
    expect(await countActive()).toBe(2);
    await client.advance('P8D');
    expect((await readItems(id)).purchase.subscriptionState).toBe('SUBSCRIPTION_STATE_ON_HOLD');
    expect(await countActive()).toBe(0);
    await client.advance('P3D');
    await client.act(id, action);
    const { items, purchase } = await readItems(id);
    expect(purchase.subscriptionState).toBe(`SUBSCRIPTION_STATE_${state}`);
    expect(await countActive()).toBe(activeCount);
    const holdMs = 4 * 24 * 60 * 60 * 1000;
    expect(Date.parse(items.get(productId)?.expiryTime as string)).toBe(paidUntil + holdMs);
  });
});

describe('rentals and prepaid plans of Google Play', () => {
  it('rents a product for a period of its purchase option', async () => {
    const { id, rentalEnd } = (await client.buy({ productId: 'film', type: 'non consumable', rentalPeriod: 'P2D' }))
      .body;
    expect(Date.parse(rentalEnd) - client.clock.now()).toBe(2 * 24 * 60 * 60 * 1000);
    expect((await client.product(id)).body.productLineItem).toMatchObject([
      { productOfferDetails: { purchaseOptionId: 'rent-p2d', rentOfferDetails: {} } },
    ]);
    expect((await client.api('oneTimeProducts/film')).body.purchaseOptions).toMatchObject([
      { purchaseOptionId: 'buy', buyOption: {} },
      { purchaseOptionId: 'rent-p2d', rentOption: { rentalPeriod: 'P2D' } },
    ]);
  });

  it('extends a prepaid plan by a top-up and ends it without one', async () => {
    const { id, expiryTime } = (await client.buy({ productId: 'prepaid', type: 'paid subscription', prepaid: true }))
      .body;
    const successor = (await client.act(id, 'top-up')).body;
    expect(Date.parse(successor.expiryTime)).toBeGreaterThan(Date.parse(expiryTime));
    const { lineItems, ...purchase } = (await client.subscription(successor.id)).body;
    expect(purchase).toMatchObject({ linkedPurchaseToken: id });
    expect(lineItems).toMatchObject([{ prepaidPlan: { allowExtendAfterTime: expect.any(String) } }]);
    expect(lineItems[0]).not.toHaveProperty('autoRenewingPlan');
    expect(await client.act(successor.id, 'renew')).toMatchObject({ status: 422 });
    await client.advance('P2M');
    expect((await client.subscription(successor.id)).body.subscriptionState).toBe('SUBSCRIPTION_STATE_EXPIRED');
  });
});
