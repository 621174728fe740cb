import { androidpublisher } from '@googleapis/androidpublisher';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type GooglePlayClient, startGooglePlayClient } from './google-play-client-app.ts';

let client: GooglePlayClient;
beforeAll(async () => {
  client = await startGooglePlayClient();
});
afterAll(() => client.close());

const packageName = 'com.example.app';

/** Creates Google's client with a token of the service account. */
async function googleClient() {
  const { access_token } = (await client.exchange()).body;
  return androidpublisher({
    version: 'v3',
    headers: { authorization: `Bearer ${access_token}` },
    fetchImplementation: (url, init) => fetch(String(url).replace('https://', `${client.url}/`), init),
  });
}

it("returns subscriptions to Google's client", async () => {
  const { purchases, orders } = await googleClient();
  const { id: token } = (await client.buy()).body;
  await purchases.subscriptions.acknowledge({ packageName, token, subscriptionId: 'monthly' });
  const subscription = (await purchases.subscriptionsv2.get({ packageName, token })).data;
  expect(subscription).toMatchObject({
    subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
    acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
  });
  const orderId = String(subscription.lineItems?.[0]?.latestSuccessfulOrderId);
  expect((await orders.get({ packageName, orderId })).data).toMatchObject({ orderId, purchaseToken: token });
  const batch = await orders.batchget({ packageName, orderIds: [orderId] });
  expect(batch.data.orders).toMatchObject([{ orderId }]);
});

it("returns one-time purchases to Google's client", async () => {
  const { purchases } = await googleClient();
  const productId = 'coins of gold';
  const { id: token } = (await client.buy({ productId, type: 'consumable' })).body;
  await purchases.products.acknowledge({ packageName, productId, token });
  await purchases.products.consume({ packageName, productId, token });
  expect((await purchases.products.get({ packageName, productId, token })).data).toMatchObject({ consumptionState: 1 });
  expect((await purchases.productsv2.getproductpurchasev2({ packageName, token })).data).toMatchObject({
    productLineItem: [{ productId, productOfferDetails: { consumptionState: 'CONSUMPTION_STATE_CONSUMED' } }],
  });
  await client.act(token, 'revoke');
  const { data } = await purchases.voidedpurchases.list({ packageName, type: 1, maxResults: 10 });
  expect(data.voidedPurchases).toMatchObject([{ purchaseToken: token }]);
  await expect(purchases.subscriptionsv2.get({ packageName, token })).rejects.toMatchObject({ status: 400 });
});
