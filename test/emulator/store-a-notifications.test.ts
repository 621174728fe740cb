import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { type NotificationReceiver, startReceiver, waitUntil } from './notification-receiver.ts';
import { formatNotificationType, monthEnd, runSteps, type Step } from './random-histories.ts';

let user: EmulatorClient;
let receiver: NotificationReceiver;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());
beforeEach(async () => {
  user.clock.set(startTime);
  receiver = await startReceiver();
  user.setNotificationUrl('store_a', receiver.url);
});
afterEach(() => receiver.close());

/** Apple's own verifier, with the emulator's root in the place of Apple's. */
function verifier(environment = Environment.PRODUCTION): SignedDataVerifier {
  const { bundleId, appAppleId } = user.settings('store_a');
  return new SignedDataVerifier([user.rootCertificate], false, environment, String(bundleId), Number(appAppleId));
}

const signedPayload = ({ body }: { readonly body: string }): string => JSON.parse(body).signedPayload;

/** What arrived, verified, once `count` notifications are there, by type. */
async function verified(count: number, environment = Environment.PRODUCTION) {
  const received = await receiver.waitForCount(count);
  return Promise.all(received.map((one) => verifier(environment).verifyAndDecodeNotification(signedPayload(one))));
}

describe('a notification', () => {
  it('says what happened, in what state the subscription is, and shows it signed', async () => {
    const { id } = (await user.buy({ applicationUsername: 'alice' })).body;
    const [notification] = await verified(1);
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
    expect(await verifier().verifyAndDecodeTransaction(signedTransactionInfo)).toMatchObject({
      originalTransactionId: id,
    });
    expect(await verifier().verifyAndDecodeRenewalInfo(signedRenewalInfo)).toMatchObject({ autoRenewStatus: 1 });
  });

  test.each<[string, readonly Step[], readonly string[]]>([
    ['renewal', [['renew']], ['DID_RENEW']],
    ['cancellation', [['cancel']], ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED']],
    ['cancellation taken back', [['cancel'], ['uncancel']], ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED']],
    ['failed payment', [['fail-payment']], ['DID_FAIL_TO_RENEW/GRACE_PERIOD']],
    ['failed payment without grace', [['fail-payment', { grace: false }]], ['DID_FAIL_TO_RENEW']],
    ['end of grace', [['fail-payment'], ['fail-payment']], ['GRACE_PERIOD_EXPIRED']],
    ['recovery', [['fail-payment'], ['recover']], ['DID_RENEW/BILLING_RECOVERY']],
    ['end of a cancelled subscription', [['cancel'], ['expire']], ['EXPIRED/VOLUNTARY']],
    ['end for want of payment', [['fail-payment'], ['expire']], ['EXPIRED/BILLING_RETRY']],
    ['end for want of consent', [['raise-price'], ['expire']], ['EXPIRED/PRICE_INCREASE']],
    ['return', [['expire'], ['renew']], ['SUBSCRIBED/RESUBSCRIBE']],
    ['refund', [['refund']], ['REFUND', 'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED']],
    ['revocation', [['revoke']], ['REVOKE']],
    ['price increase', [['raise-price']], ['PRICE_INCREASE/PENDING']],
    ['consent to it', [['raise-price'], ['accept-price']], ['PRICE_INCREASE/ACCEPTED']],
    ['extension', [['extend']], ['RENEWAL_EXTENDED']],
    ['redeemed offer', [['redeem-offer']], ['OFFER_REDEEMED']],
    ['request for the money back', [['request-refund']], ['CONSUMPTION_REQUEST']],
    ['refusal of it', [['request-refund'], ['decline-refund']], ['REFUND_DECLINED']],
    ['refund taken back', [['refund'], ['reverse-refund']], ['REFUND_REVERSED']],
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
  ])('is posted of each %s', async (_name, steps, types) => {
    const { id } = (await user.buy()).body;
    await runSteps(user, id, steps.slice(0, -1));
    const before = await settled();
    await runSteps(user, id, steps.slice(-1));
    const notifications = (await verified(before + types.length)).slice(before);
    expect(notifications.map((one) => formatNotificationType(one as Record<string, string>)).sort()).toEqual(
      [...types].sort(),
    );
    for (const { data } of notifications) {
      expect(decodePayload(data?.signedTransactionInfo ?? '')).toMatchObject({ originalTransactionId: id });
    }
  });

  it('is posted of a product bought once, without anything about renewals', async () => {
    await user.buy({ productId: 'coins', type: 'consumable' });
    const [notification] = await verified(1);
    expect(notification).toMatchObject({ notificationType: 'ONE_TIME_CHARGE' });
    expect(Object.keys(notification?.data ?? {})).not.toEqual(expect.arrayContaining(['signedRenewalInfo']));
    expect(notification?.data?.status).toBeUndefined();
  });

  it('shows the refunded period, also one that is over', async () => {
    const { id, transactionId } = (await user.buy()).body;
    await user.act(id, 'renew');
    await user.act(id, 'refund', { transactionId });
    const refund = (await verified(3)).find(({ notificationType }) => notificationType === 'REFUND');
    const transaction = await verifier().verifyAndDecodeTransaction(refund?.data?.signedTransactionInfo ?? '');
    expect(transaction).toMatchObject({ transactionId, revocationDate: startTime });
    expect(refund?.data?.status).toBe(1);
  });

  it('goes to family members on their own purchase', async () => {
    const { id } = (await user.buy({ applicationUsername: 'mother' })).body;
    const share = (await user.act(id, 'share', { applicationUsername: 'child' })).body.id;
    await user.act(share, 'revoke');
    const revoked = (await verified(3)).find(({ notificationType }) => notificationType === 'REVOKE');
    expect(await verifier().verifyAndDecodeTransaction(revoked?.data?.signedTransactionInfo ?? '')).toMatchObject({
      originalTransactionId: share,
      inAppOwnershipType: 'FAMILY_SHARED',
      revocationDate: startTime,
    });
  });

  it('shows the state of its own moment when the clock passes several in one go', async () => {
    const { id } = (await user.buy({ autoRenew: true })).body;
    await user.advance('P2M');
    const all = await verified(await settled());
    const notifications = all
      .filter(({ data }) => decodePayload(data?.signedTransactionInfo ?? '').originalTransactionId === id)
      .sort((one, other) => (one.signedDate ?? 0) - (other.signedDate ?? 0));
    expect(notifications.map(({ notificationType }) => notificationType)).toEqual([
      'SUBSCRIBED',
      'DID_RENEW',
      'DID_RENEW',
    ]);
    const [, renewed] = notifications;
    expect(renewed?.signedDate).toBe(monthEnd);
    expect(decodePayload(renewed?.data?.signedTransactionInfo ?? '')).toMatchObject({ purchaseDate: monthEnd });
  });

  it('of a sandbox purchase is verified as one, and names no app', async () => {
    await user.buy({ sandbox: true });
    const [notification] = await verified(1, Environment.SANDBOX);
    expect(notification?.data?.environment).toBe('Sandbox');
    expect(notification?.data?.appAppleId).toBeUndefined();
  });
});

/** How many notifications have arrived once all are answered. */
async function settled(): Promise<number> {
  await waitUntil(async () => {
    const { body } = await user.control('GET', '/control/notifications');
    return body.notifications.every(({ state }: { state: string }) => state === 'delivered');
  });
  return receiver.received.length;
}
