import { Environment } from '@apple/app-store-server-library';
import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createVerifier } from './apple-client.ts';
import { decodePayload, startEmulatorClient, startTime } from './emulator-client.ts';
import { type NotificationReceiver, startReceiver, waitUntil } from './notification-receiver.ts';
import { formatNotificationType, monthEnd, runSteps, type Step } from './random-histories.ts';

const client = startBeforeAll(startEmulatorClient);
let receiver: NotificationReceiver;
beforeEach(async () => {
  client.clock.set(startTime);
  receiver = await startReceiver();
  client.setNotificationUrl('store_a', receiver.url);
});
afterEach(() => receiver.close());

const getSignedPayload = ({ body }: { readonly body: string }): string => JSON.parse(body).signedPayload;

/** Waits for a number of notifications and verifies them. */
async function receiveVerified(count: number, environment = Environment.PRODUCTION) {
  const received = await receiver.waitForCount(count);
  return Promise.all(
    received.map((notification) =>
      createVerifier(client, environment).verifyAndDecodeNotification(getSignedPayload(notification)),
    ),
  );
}

describe('notification of the App Store', () => {
  it('contains type, status and signed transaction and renewal information', async () => {
    const { id } = (await client.buy({ applicationUsername: 'alice' })).body;
    const [notification] = await receiveVerified(1);
    expect(notification).toMatchObject({
      notificationType: 'SUBSCRIBED',
      subtype: 'INITIAL_BUY',
      notificationUUID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: '2.0',
      signedDate: startTime,
      data: {
        environment: 'Production',
        bundleId: 'com.example.app',
        appAppleId: 1234567890,
        bundleVersion: '2.4',
        status: 1,
      },
    });
    const { signedTransactionInfo = '', signedRenewalInfo = '' } = notification?.data ?? {};
    expect(await createVerifier(client).verifyAndDecodeTransaction(signedTransactionInfo)).toMatchObject({
      originalTransactionId: id,
    });
    expect(await createVerifier(client).verifyAndDecodeRenewalInfo(signedRenewalInfo)).toMatchObject({
      autoRenewStatus: 1,
    });
  });

  test.each<[string, readonly Step[], readonly string[]]>([
    ['renewal', [['renew']], ['DID_RENEW']],
    ['cancellation', [['cancel']], ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED']],
    ['reverted cancellation', [['cancel'], ['uncancel']], ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED']],
    ['failed payment', [['fail-payment']], ['DID_FAIL_TO_RENEW/GRACE_PERIOD']],
    ['failed payment without a grace period', [['fail-payment', { grace: false }]], ['DID_FAIL_TO_RENEW']],
    ['end of the grace period', [['fail-payment'], ['fail-payment']], ['GRACE_PERIOD_EXPIRED']],
    ['recovery', [['fail-payment'], ['recover']], ['DID_RENEW/BILLING_RECOVERY']],
    ['end of a canceled subscription', [['cancel'], ['expire']], ['EXPIRED/VOLUNTARY']],
    ['end after failed payments', [['fail-payment'], ['expire']], ['EXPIRED/BILLING_RETRY']],
    ['end without consent to a price', [['raise-price'], ['expire']], ['EXPIRED/PRICE_INCREASE']],
    ['return', [['expire'], ['renew']], ['SUBSCRIBED/RESUBSCRIBE']],
    ['refund', [['refund']], ['REFUND', 'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED']],
    ['revocation', [['revoke']], ['REVOKE']],
    ['price increase', [['raise-price']], ['PRICE_INCREASE/PENDING']],
    ['consent to a price increase', [['raise-price'], ['accept-price']], ['PRICE_INCREASE/ACCEPTED']],
    ['extension', [['extend']], ['RENEWAL_EXTENDED']],
    ['changed metadata', [['update-metadata']], ['METADATA_UPDATE']],
    ['migration', [['migrate']], ['MIGRATION']],
    ['changed price', [['change-price']], ['PRICE_CHANGE']],
    ['redeemed offer', [['redeem-offer']], ['OFFER_REDEEMED']],
    ['refund request', [['request-refund']], ['CONSUMPTION_REQUEST']],
    ['declined refund request', [['request-refund'], ['decline-refund']], ['REFUND_DECLINED']],
    ['reversed refund', [['refund'], ['reverse-refund']], ['REFUND_REVERSED']],
    [
      'upgrade',
      [['change-plan', { productId: 'dearer', priceMicros: 9_990_000 }]],
      ['DID_CHANGE_RENEWAL_PREF/UPGRADE'],
    ],
    [
      'downgrade',
      [['change-plan', { productId: 'cheaper', priceMicros: 990_000 }]],
      ['DID_CHANGE_RENEWAL_PREF/DOWNGRADE'],
    ],
  ])('posts the type for: %s', async (_name, steps, types) => {
    const { id } = (await client.buy()).body;
    await runSteps(client, id, steps.slice(0, -1));
    const before = await countDelivered();
    await runSteps(client, id, steps.slice(-1));
    const notifications = (await receiveVerified(before + types.length)).slice(before);
    expect(
      notifications.map((notification) => formatNotificationType(notification as Record<string, string>)).sort(),
    ).toEqual([...types].sort());
    for (const { data } of notifications) {
      expect(decodePayload(data?.signedTransactionInfo ?? '')).toMatchObject({ originalTransactionId: id });
    }
  });

  it('omits renewal information for a one-time purchase', async () => {
    await client.buy({ productId: 'coins', type: 'consumable' });
    const [notification] = await receiveVerified(1);
    expect(notification).toMatchObject({ notificationType: 'ONE_TIME_CHARGE' });
    expect(Object.keys(notification?.data ?? {})).not.toEqual(expect.arrayContaining(['signedRenewalInfo']));
    expect(notification?.data?.status).toBeUndefined();
  });

  it('contains the refunded period, even if it has ended', async () => {
    const { id, transactionId } = (await client.buy()).body;
    await client.act(id, 'renew');
    await client.act(id, 'refund', { transactionId });
    const refund = (await receiveVerified(3)).find(({ notificationType }) => notificationType === 'REFUND');
    const transaction = await createVerifier(client).verifyAndDecodeTransaction(
      refund?.data?.signedTransactionInfo ?? '',
    );
    expect(transaction).toMatchObject({ transactionId, revocationDate: startTime });
    expect(refund?.data?.status).toBe(1);
  });

  it('posts notifications for the purchases of family members', async () => {
    const { id } = (await client.buy({ applicationUsername: 'mother' })).body;
    const share = (await client.act(id, 'share', { applicationUsername: 'child' })).body.id;
    await client.act(share, 'revoke');
    const revoked = (await receiveVerified(3)).find(({ notificationType }) => notificationType === 'REVOKE');
    expect(
      await createVerifier(client).verifyAndDecodeTransaction(revoked?.data?.signedTransactionInfo ?? ''),
    ).toMatchObject({
      originalTransactionId: share,
      inAppOwnershipType: 'FAMILY_SHARED',
      revocationDate: startTime,
    });
  });

  it('contains the state of its own time if the clock passes several transitions at once', async () => {
    const { id } = (await client.buy({ autoRenew: true })).body;
    await client.advance('P2M');
    const all = await receiveVerified(await countDelivered());
    const notifications = all
      .filter(({ data }) => decodePayload(data?.signedTransactionInfo ?? '').originalTransactionId === id)
      .sort((a, b) => (a.signedDate ?? 0) - (b.signedDate ?? 0));
    expect(notifications.map(({ notificationType }) => notificationType)).toEqual([
      'SUBSCRIBED',
      'DID_RENEW',
      'DID_RENEW',
    ]);
    const [, renewed] = notifications;
    expect(renewed?.signedDate).toBe(monthEnd);
    expect(decodePayload(renewed?.data?.signedTransactionInfo ?? '')).toMatchObject({ purchaseDate: monthEnd });
  });

  it('omits the Apple id of the app in the sandbox', async () => {
    await client.buy({ sandbox: true });
    const [notification] = await receiveVerified(1, Environment.SANDBOX);
    expect(notification?.data?.environment).toBe('Sandbox');
    expect(notification?.data?.appAppleId).toBeUndefined();
  });

  it.each([
    [false, Environment.PRODUCTION],
    [true, Environment.SANDBOX],
  ])('contains the app transaction of a rescinded consent (sandbox: %s)', async (sandbox, environment) => {
    const { id, appTransactionId } = (await client.buy({ sandbox })).body;
    await client.act(id, 'rescind-consent');
    const rescinded = (await receiveVerified(2, environment)).find(
      ({ notificationType }) => notificationType === 'RESCIND_CONSENT',
    );
    expect(rescinded?.data).toBeUndefined();
    expect(rescinded?.appData).toMatchObject({ bundleId: 'com.example.app', environment });
    const { signedAppTransactionInfo = '' } = rescinded?.appData ?? {};
    expect(
      await createVerifier(client, environment).verifyAndDecodeAppTransaction(signedAppTransactionInfo),
    ).toMatchObject({ appTransactionId });
  });

  it.each([
    [false, Environment.PRODUCTION, /^[0-9a-f-]{36}$/],
    [true, Environment.SANDBOX, /^SANDBOX/],
  ])('contains an external purchase token (sandbox: %s)', async (sandbox, environment, pattern) => {
    const { id } = (await client.buy({ sandbox })).body;
    await client.act(id, 'external-purchase-token', { reason: 'CREATED' });
    const token = (await receiveVerified(2, environment)).find(
      ({ notificationType }) => notificationType === 'EXTERNAL_PURCHASE_TOKEN',
    );
    expect(token).toMatchObject({
      subtype: 'CREATED',
      externalPurchaseToken: {
        externalPurchaseId: expect.stringMatching(pattern),
        tokenCreationDate: startTime,
        bundleId: 'com.example.app',
      },
    });
    expect((await client.act(id, 'external-purchase-token', { reason: 'LOST' })).status).toBe(400);
  });

  it('reports an extension of all subscriptions to a product', async () => {
    const buyPlan = async () => (await client.buy({ productId: 'plan-of-extension' })).body.id;
    const [first, second, failing] = [await buyPlan(), await buyPlan(), await buyPlan()];
    await client.act(failing, 'fail-payment');
    const before = await countDelivered();
    await client.act(first, 'extend-all', { period: 'P3D' });
    const sent = (await receiveVerified(before + 4)).slice(before);
    const listIds = (type: string) =>
      sent
        .filter(({ notificationType, subtype }) => [notificationType, subtype].filter(Boolean).join('.') === type)
        .map(({ data }) => decodePayload(data?.signedTransactionInfo ?? '').originalTransactionId);
    expect(listIds('RENEWAL_EXTENDED').sort()).toEqual([first, second].sort());
    expect(listIds('RENEWAL_EXTENSION.FAILURE')).toEqual([failing]);
    expect(sent.find(({ subtype }) => subtype === 'SUMMARY')?.summary).toMatchObject({
      environment: 'Production',
      productId: 'plan-of-extension',
      succeededCount: 2,
      failedCount: 1,
    });
  });
});

/** Waits until all notifications are delivered and returns their number. */
async function countDelivered(): Promise<number> {
  await waitUntil(async () => {
    const { body } = await client.control('GET', '/control/notifications');
    return body.notifications.every(({ state }: { state: string }) => state === 'delivered');
  });
  return receiver.received.length;
}
