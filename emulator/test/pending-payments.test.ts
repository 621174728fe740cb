import { beforeEach, describe, expect, it } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startTime } from './emulator-client.ts';
import { startGooglePlayClient } from './google-play-client-app.ts';
import { createStripeClient } from './stripe-client.ts';

const client = startBeforeAll(startGooglePlayClient);
beforeEach(() => client.clock.set(startTime));

const paidLater = '2027-02-02T10:00:00Z';

async function buyPending(order: object) {
  const { status, body } = await client.buy({ productId: 'premium', ...order, pending: true });
  expect(status).toBe(200);
  client.clock.set(Date.parse(paidLater));
  return body;
}

const receiptOf = (purchase: { validate: { transaction: { receipt: string } } }) =>
  JSON.parse(purchase.validate.transaction.receipt);

describe('pre-ordered product of Google Play', () => {
  it('stays pending until its release, when Google Play charges and notifies it', async () => {
    const order = { platform: 'store_b', productId: 'game', type: 'non consumable', preorderPeriod: 'P1M' };
    const { id, latestOrderId } = (await client.buy(order)).body;
    const release = { preorderReleaseTime: '2027-02-28T10:00:00.000Z' };
    expect((await client.product(id)).body).toMatchObject({
      purchaseStateContext: { purchaseState: 'PENDING' },
      productLineItem: [{ productOfferDetails: { preorderOfferDetails: release } }],
    });
    expect((await client.order(latestOrderId)).body.state).toBe('PENDING');
    await client.advance('P1M');
    const { notifications } = (await client.control('GET', '/control')).body;
    expect(notifications).toMatchObject([{ oneTimeProductNotification: { notificationType: 1, purchaseToken: id } }]);
    expect((await client.product(id)).body).toMatchObject({
      purchaseStateContext: { purchaseState: 'PURCHASED' },
      purchaseCompletionTime: '2027-02-28T10:00:00.000Z',
    });
    expect((await client.order(latestOrderId)).body).toMatchObject({
      state: 'PROCESSED',
      createTime: '2027-01-31T10:00:00.000Z',
      orderHistory: { processedEvent: { eventTime: '2027-02-28T10:00:00.000Z' } },
    });
    expect((await client.control('GET', `/control/purchases/${id}`)).body.payments).toMatchObject([
      { date: '2027-02-28T10:00:00.000Z' },
    ]);
  });
});

describe('pending subscription of Google Play', () => {
  const order = { platform: 'store_b', type: 'paid subscription', priceMicros: 5_000_000 };

  it('lacks a start, a successful order and a notification', async () => {
    const pending = await buyPending(order);
    expect(pending.notifications).toEqual([]);
    const { body } = await client.subscription(pending.id);
    expect(body).toMatchObject({ subscriptionState: 'SUBSCRIPTION_STATE_PENDING' });
    expect(body).not.toHaveProperty('startTime');
    expect(body.lineItems[0]).not.toHaveProperty('latestSuccessfulOrderId');
    expect((await client.order(pending.latestOrderId)).body.state).toBe('PENDING');
    expect(receiptOf(pending)).toMatchObject({ purchaseState: 4 });
    expect(receiptOf(pending)).not.toHaveProperty('orderId');
  });

  it('starts with the payment', async () => {
    const { id } = await buyPending(order);
    const { body: paid } = await client.act(id, 'pay');
    expect(paid.notifications).toMatchObject([{ subscriptionNotification: { notificationType: 4 } }]);
    expect(receiptOf(paid)).toMatchObject({ purchaseState: 0, orderId: expect.any(String) });
    const { body } = await client.subscription(id);
    expect(body).toMatchObject({
      subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
      startTime: '2027-02-02T10:00:00.000Z',
    });
    expect(body.lineItems[0].expiryTime).toBe('2027-03-02T10:00:00.000Z');
    expect((await client.order(body.lineItems[0].latestSuccessfulOrderId)).body.state).toBe('PROCESSED');
  });

  it('ends as canceled if the customer abandons it', async () => {
    const { id, latestOrderId } = await buyPending(order);
    const { body: abandoned } = await client.act(id, 'abandon');
    expect(abandoned.notifications).toMatchObject([{ subscriptionNotification: { notificationType: 20 } }]);
    const { body } = await client.subscription(id);
    expect(body.subscriptionState).toBe('SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED');
    expect((await client.order(latestOrderId)).body.state).toBe('CANCELED');
  });

  it('allows another purchase after the customer has abandoned it', async () => {
    const owner = { ...order, applicationUsername: 'a-cash-payer' };
    const { id } = await buyPending(owner);
    expect((await client.buy({ productId: 'premium', ...owner })).status).toBe(422);
    await client.act(id, 'abandon');
    expect((await client.buy({ productId: 'premium', ...owner })).status).toBe(200);
  });
});

describe('pending one-time purchase of Google Play', () => {
  const order = { platform: 'store_b', productId: 'coins', type: 'consumable', quantity: 3 };
  const legacy = (id: string) => client.api(`purchases/products/coins/tokens/${id}`);

  it('completes with the payment', async () => {
    const pending = await buyPending(order);
    expect(receiptOf(pending)).toMatchObject({ purchaseState: 4, quantity: 3 });
    expect((await client.product(pending.id)).body).not.toHaveProperty('purchaseCompletionTime');
    expect((await legacy(pending.id)).body.purchaseState).toBe(2);
    const { body: paid } = await client.act(pending.id, 'pay');
    expect(paid.notifications).toMatchObject([{ oneTimeProductNotification: { notificationType: 1 } }]);
    expect((await client.product(pending.id)).body).toMatchObject({
      purchaseStateContext: { purchaseState: 'PURCHASED' },
      purchaseCompletionTime: '2027-02-02T10:00:00.000Z',
    });
    expect((await legacy(pending.id)).body.purchaseState).toBe(0);
  });

  it('ends without a voided order if the customer abandons it', async () => {
    const { id } = await buyPending(order);
    const { body: abandoned } = await client.act(id, 'abandon');
    expect(abandoned.notifications).toMatchObject([{ oneTimeProductNotification: { notificationType: 2 } }]);
    const { body } = await client.product(id);
    expect(body.purchaseStateContext.purchaseState).toBe('CANCELLED');
    expect(body).not.toHaveProperty('purchaseCompletionTime');
    expect((await client.order(body.orderId)).body.state).toBe('CANCELED');
    const { body: voided } = await client.api('purchases/voidedpurchases');
    expect(JSON.stringify(voided)).not.toContain(id);
  });

  it('rejects a consumption', async () => {
    const { id } = await buyPending(order);
    const { status } = await client.api(`purchases/products/coins/tokens/${id}:consume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${(await client.exchange()).body.access_token}` },
    });
    expect(status).toBe(400);
  });
});

describe('pending payment of the emulated Stripe', () => {
  const subscription = { platform: 'processor_a', productId: 'plan', type: 'paid subscription' };
  const session = { platform: 'processor_a', productId: 'pack', type: 'consumable', quantity: 2 };
  const listTypes = ({ notifications }: { notifications: readonly { type: string }[] }) =>
    notifications.map(({ type }) => type);

  it.each([
    [
      subscription,
      'incomplete',
      ['payment_intent.processing', 'customer.subscription.created', 'checkout.session.completed'],
    ],
    [session, 'unpaid', ['payment_intent.processing', 'checkout.session.completed']],
  ])('completes the checkout session of %j unpaid', async (order, state, events) => {
    const pending = await buyPending(order);
    expect(pending.state).toBe(state);
    expect(listTypes(pending).slice(-events.length)).toEqual(events);
    const checkout = await createStripeClient(client).checkout.sessions.retrieve(pending.sessionId);
    expect(checkout).toMatchObject({ status: 'complete', payment_status: 'unpaid' });
  });

  it('activates the subscription after the payment', async () => {
    const { id, sessionId } = await buyPending(subscription);
    const { body: paid } = await client.act(id, 'pay');
    expect(listTypes(paid)).toEqual([
      'payment_intent.succeeded',
      'invoice.paid',
      'customer.subscription.updated',
      'checkout.session.async_payment_succeeded',
    ]);
    const stripe = createStripeClient(client);
    const { status, latest_invoice } = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    expect([status, latest_invoice]).toMatchObject(['active', { status: 'paid', amount_paid: 499 }]);
    expect((await stripe.checkout.sessions.retrieve(sessionId)).payment_status).toBe('paid');
  });

  it('ends the subscription if the customer abandons it', async () => {
    const { id } = await buyPending(subscription);
    const { body: abandoned } = await client.act(id, 'abandon');
    expect(listTypes(abandoned)).toEqual([
      'payment_intent.payment_failed',
      'invoice.voided',
      'customer.subscription.updated',
      'checkout.session.async_payment_failed',
    ]);
    expect(abandoned.state).toBe('incomplete_expired');
    expect((await client.act(id, 'pay')).status).toBe(422);
  });

  it.each([
    ['pay', 'succeeded', 998, 'paid', 'checkout.session.async_payment_succeeded'],
    ['abandon', 'requires_payment_method', 0, 'unpaid', 'checkout.session.async_payment_failed'],
  ])('settles a session with %s', async (action, status, amount_received, paymentStatus, event) => {
    const { id, sessionId } = await buyPending(session);
    expect(listTypes((await client.act(id, action)).body)).toContain(event);
    const stripe = createStripeClient(client);
    expect(await stripe.paymentIntents.retrieve(id)).toMatchObject({ status, amount_received });
    expect((await stripe.checkout.sessions.retrieve(sessionId)).payment_status).toBe(paymentStatus);
  });
});

describe('POST /control/purchases with pending', () => {
  it.each([
    ['store_a', {}],
    ['store_c', { productId: '9NBLGGH5W123' }],
    ['store_b', { trial: true }],
    ['processor_a', { trial: true }],
    ['processor_b', { trial: true }],
  ])('rejects an order of %s with %j', async (platform, changes) => {
    const order = { platform, productId: 'premium', type: 'paid subscription', pending: true, ...changes };
    const { status, body } = await client.buy(order);
    expect([status, body.message]).toEqual([422, expect.stringMatching(/^pending: /)]);
  });

  it.each(['renew', 'cancel', 'expire', 'refund', 'revoke', 'fail-payment'])(
    'does not allow %s before the payment',
    async (action) => {
      for (const platform of ['store_b', 'processor_a']) {
        const { id } = await buyPending({ platform, type: 'paid subscription' });
        expect((await client.act(id, action)).status).toBe(422);
        client.clock.set(startTime);
      }
    },
  );
});
