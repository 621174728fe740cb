import { beforeEach, describe, expect, it } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { googlePlay } from '../google-play/google-play.ts';
import { startGooglePlayClient } from './google-play-client-app.ts';
import { openNotifyingStore } from './notifying-store.ts';

const client = startBeforeAll(startGooglePlayClient);
beforeEach(() => client.reset());

const money = (units: string) => ({ currencyCode: 'USD', units });
const change = (platform: string, settings: object) => client.control('PUT', `/control/accounts/${platform}`, settings);

describe('payloadUnwrapping of the emulated Google Play', () => {
  it('reports the setting in the push subscription', async () => {
    await change('store_b', { payloadUnwrapping: true });
    await client.control('PUT', '/control/notifications/store_b', { url: 'http://127.0.0.1:9/push' });
    const scope = 'https://www.googleapis.com/auth/pubsub';
    const token = (await client.exchange({ claims: { scope } })).body.access_token;
    const { body } = await client.call('/pubsub.googleapis.com/v1/projects/example-app/subscriptions', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(body.subscriptions).toMatchObject([{ pushConfig: { noWrapper: { writeMetadata: false } } }]);
    await client.control('PUT', '/control/notifications/store_b', { url: null });
  });

  it('posts the notification without its wrapper', async () => {
    const store = await openNotifyingStore(googlePlay);
    const order = { productId: 'monthly', type: 'paid subscription', acknowledged: true } as const;
    store.accountSettings?.change({ payloadUnwrapping: true });
    const id = store.placeOrder(order);
    const [posted] = store.takePosted();
    expect(JSON.parse(posted?.body ?? '')).toMatchObject({ subscriptionNotification: { purchaseToken: id } });
    expect(posted?.buildHeaders(store.now()).authorization).toMatch(/^Bearer /);
    store.accountSettings?.change({ payloadUnwrapping: false });
    store.actions.renew?.(id, {});
    expect(JSON.parse(store.takePosted()[0]?.body ?? '')).toHaveProperty('message.data');
  });
});

describe('taxRate of the emulated Google Play', () => {
  it('adds the tax to the total of an order, its lines and its refunds', async () => {
    const order = { productId: 'taxed', taxRate: 20, priceMicros: 5_000_000 };
    const { id, latestOrderId } = (await client.buy(order)).body;
    await client.act(id, 'refund');
    const [total, tax] = [money('6'), money('1')];
    expect((await client.order(latestOrderId)).body).toMatchObject({
      total,
      tax,
      lineItems: [{ listingPrice: money('5'), total, tax }],
      orderHistory: { refundEvent: { refundDetails: { total, tax } } },
    });
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({
      payments: [{ amountMicros: 6_000_000, taxMicros: 1_000_000, refunds: [{ amountMicros: 6_000_000 }] }],
      paidMicros: 6_000_000,
      refundedMicros: 6_000_000,
    });
  });

  it('keeps the rate for the purchase that follows from a plan change', async () => {
    const { id } = (await client.buy({ productId: 'taxed', taxRate: 10, priceMicros: 5_000_000 })).body;
    const { body } = await client.act(id, 'change-plan', { productId: 'next', priceMicros: 8_000_000 });
    expect(body.payments).toMatchObject([{ amountMicros: 8_800_000, taxMicros: 800_000 }]);
  });
});

describe('listLength', () => {
  it('cuts the pages of the transaction history of the App Store', async () => {
    await change('store_a', { listLength: 2 });
    const { id } = (await client.buy({ platform: 'store_a' })).body;
    for (let renewals = 0; renewals < 2; renewals++) await client.act(id, 'renew');
    const path = `/inApps/v2/history/${id}`;
    const first = (await client.callServerApi(path)).body;
    expect([first.signedTransactions.length, first.hasMore]).toEqual([2, true]);
    const second = (await client.callServerApi(`${path}?revision=${first.revision}`)).body;
    expect([second.signedTransactions.length, second.hasMore]).toEqual([1, false]);
  });

  it('cuts the pages of the voided purchases of Google Play', async () => {
    await change('store_b', { listLength: 2 });
    for (let index = 0; index < 3; index++) {
      const { id } = (await client.buy({ productId: 'coins', type: 'consumable' })).body;
      await client.act(id, 'revoke');
    }
    const first = (await client.api('purchases/voidedpurchases')).body;
    expect(first.voidedPurchases).toHaveLength(2);
    const token = first.tokenPagination.nextPageToken;
    expect((await client.api(`purchases/voidedpurchases?token=${token}`)).body.voidedPurchases).toHaveLength(1);
  });

  it('appears with the other settings of the account', async () => {
    await change('store_c', { listLength: 3 });
    const { platforms } = (await client.control('GET', '/control')).body;
    expect(platforms.store_c.accountSettings).toEqual({ listLength: 3 });
  });
});
