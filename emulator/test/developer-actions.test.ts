import { Environment, ExtendReasonCode } from '@apple/app-store-server-library';
import { androidpublisher } from '@googleapis/androidpublisher';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClock } from '../clock.ts';
import { createApiClient, createVerifier } from './apple-client.ts';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { type GooglePlayClient, startGooglePlayClient } from './google-play-client-app.ts';

const subscription = { type: 'paid subscription', productId: 'monthly' };
const extension = {
  extendByDays: 7,
  extendReasonCode: ExtendReasonCode.CUSTOMER_SATISFACTION,
  requestIdentifier: '5f0c8a1b-9d3e-4f60-8182-930405060708',
};

describe("developer actions of the App Store, by Apple's client", () => {
  let client: EmulatorClient;
  // Apple's client signs its tokens with the real time.
  beforeAll(async () => {
    client = await startEmulatorClient({ clock: createClock(), keys: undefined });
  });
  afterAll(() => client.close());

  const buy = async (order: object = {}): Promise<string> =>
    (await client.buy({ platform: 'store_a', acknowledged: undefined, ...subscription, ...order })).body.id;
  const findCode = async (call: Promise<unknown>): Promise<unknown> =>
    await call.then(
      () => 'accepted',
      ({ apiError }: { apiError?: number }) => apiError,
    );

  it('extends a subscription twice in 365 days for a customer', async () => {
    const apple = createApiClient(client);
    const id = await buy({ applicationUsername: 'ann' });
    const first = await apple.extendSubscriptionRenewalDate(id, extension);
    expect(first).toMatchObject({ success: true, originalTransactionId: id, effectiveDate: expect.any(Number) });
    expect((await apple.extendSubscriptionRenewalDate(id, extension)).success).toBe(true);
    expect(await findCode(apple.extendSubscriptionRenewalDate(id, extension))).toBe(4030005);
  });

  it.each([
    ['a trial', { trial: 'P7D' }, {}, 4030004],
    ['91 days', {}, { extendByDays: 91 }, 4000009],
    ['an unknown reason', {}, { extendReasonCode: 9 as ExtendReasonCode }, 4000010],
    ['an empty identifier', {}, { requestIdentifier: '' }, 4000011],
  ] as const)('rejects an extension: %s', async (_case, order, changes, code) => {
    const id = await buy(order);
    const call = createApiClient(client).extendSubscriptionRenewalDate(id, { ...extension, ...changes });
    expect(await findCode(call)).toBe(code);
  });

  it('rejects an expired and an unknown subscription', async () => {
    const apple = createApiClient(client);
    const id = await buy();
    await client.act(id, 'expire');
    expect(await findCode(apple.extendSubscriptionRenewalDate(id, extension))).toBe(4030004);
    expect(await findCode(apple.extendSubscriptionRenewalDate('4', extension))).toBe(4040005);
  });

  it('sets the app account token of the current and the next period', async () => {
    const apple = createApiClient(client);
    const verifier = createVerifier(client, Environment.PRODUCTION);
    const id = await buy();
    const appAccountToken = '7e3fb204-2a4e-4dd0-a7aa-95dd2a4b5c67';
    await apple.setAppAccountToken(id, { appAccountToken });
    const { signedTransactionInfo = '' } = await apple.getTransactionInfo(id);
    expect(await verifier.verifyAndDecodeTransaction(signedTransactionInfo)).toMatchObject({ appAccountToken });
    expect(await findCode(apple.setAppAccountToken(id, { appAccountToken: 'ann' }))).toBe(4000183);
  });

  it('finishes a transaction, also again', async () => {
    const apple = createApiClient(client);
    const id = await buy({ type: 'consumable', productId: 'coins' });
    await apple.finishTransaction(id);
    await apple.finishTransaction(id);
    expect(await findCode(apple.finishTransaction('4'))).toBe(4040010);
  });
});

describe("developer actions of Google Play, by Google's client", () => {
  let client: GooglePlayClient;
  beforeAll(async () => {
    client = await startGooglePlayClient();
  });
  afterAll(() => client.close());

  const packageName = 'com.example.app';
  const connect = async () => {
    const { access_token } = (await client.exchange()).body;
    return androidpublisher({
      version: 'v3',
      headers: { authorization: `Bearer ${access_token}` },
      fetchImplementation: (url, init) => fetch(String(url).replace('https://', `${client.url}/`), init),
    });
  };
  const read = async (token: string) => (await client.subscription(token)).body;

  it('cancels a subscription for the user or for the developer', async () => {
    const { purchases } = await connect();
    for (const [cancellationType, context] of [
      ['USER_REQUESTED_STOP_RENEWALS', 'userInitiatedCancellation'],
      ['DEVELOPER_REQUESTED_STOP_PAYMENTS', 'developerInitiatedCancellation'],
    ] as const) {
      const { id: token } = (await client.buy(subscription)).body;
      const requestBody = { cancellationContext: { cancellationType } };
      await purchases.subscriptionsv2.cancel({ packageName, token, requestBody });
      expect(await read(token)).toMatchObject({
        subscriptionState: 'SUBSCRIPTION_STATE_CANCELED',
        canceledStateContext: { [context]: expect.anything() },
      });
    }
  });

  it('revokes a subscription with a full or a prorated refund', async () => {
    for (const [revocationContext, state] of [
      [{ fullRefund: {} }, 'REFUNDED'],
      [{ proratedRefund: {} }, 'PARTIALLY_REFUNDED'],
    ] as const) {
      const { id: token } = (await client.buy(subscription)).body;
      const orderId = (await read(token)).lineItems[0].latestSuccessfulOrderId;
      await client.advance('P10D');
      const { purchases, orders } = await connect();
      await purchases.subscriptionsv2.revoke({ packageName, token, requestBody: { revocationContext } });
      expect(await read(token)).toMatchObject({ subscriptionState: 'SUBSCRIPTION_STATE_EXPIRED' });
      expect((await orders.get({ packageName, orderId })).data).toMatchObject({ state });
    }
  });

  it('defers a subscription with its latest etag only, and not in a dry run', async () => {
    const { purchases } = await connect();
    const { id: token } = (await client.buy(subscription)).body;
    const { etag, lineItems } = await read(token);
    const defer = async (deferralContext: object) =>
      await purchases.subscriptionsv2.defer({ packageName, token, requestBody: { deferralContext } });
    const later = new Date(Date.parse(lineItems[0].expiryTime) + 86_400_000).getTime();
    const { data } = await defer({ etag, deferDuration: '86400s', validateOnly: true });
    expect(Date.parse(data.itemExpiryTimeDetails?.[0]?.expiryTime ?? '')).toBe(later);
    expect((await read(token)).lineItems).toEqual(lineItems);
    await defer({ etag, deferDuration: '86400s' });
    expect(Date.parse((await read(token)).lineItems[0].expiryTime)).toBe(later);
    await expect(defer({ etag, deferDuration: '86400s' })).rejects.toThrow(/etag/);
    await expect(defer({ etag: (await read(token)).etag, deferDuration: '60s' })).rejects.toThrow(/one day/);
  });

  it('refunds an order with or without the revocation, once', async () => {
    const { orders } = await connect();
    for (const revoke of [false, true]) {
      const { id: token } = (await client.buy(subscription)).body;
      const orderId = (await read(token)).lineItems[0].latestSuccessfulOrderId;
      await orders.refund({ packageName, orderId, revoke });
      expect(await read(token)).toMatchObject({
        subscriptionState: `SUBSCRIPTION_STATE_${revoke ? 'EXPIRED' : 'ACTIVE'}`,
      });
      await expect(orders.refund({ packageName, orderId, revoke })).rejects.toThrow(/refunded/);
    }
  });
});
