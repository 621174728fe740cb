import { Environment } from '@apple/app-store-server-library';
import { expect, it } from '@jest/globals';
import { appStore } from '../../lib/stores/app-store/app-store.ts';
import { buildRenewalPayload, buildTransactionPayload, purchaseDate } from '../../testing/apple-payloads.ts';
import { signJws } from '../../testing/apple-signatures.ts';
import { createAppleVerifier } from '../../testing/apple-verification.ts';
import { applePki, createContext } from '../../testing/fake-apple.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const samples = 'apple/apple-lib/tests/resources';
const readSample = (...path: string[]): string =>
  readVector(samples, ...path)
    .toString('utf8')
    .trim();

const settings = { bundleId: 'com.example' };
const receive = async (signedPayload: string, root: Buffer) =>
  await appStore.receive?.(
    { method: 'POST', body: JSON.stringify({ signedPayload }), headers: {}, query: {} },
    createContext({ settings, extraRoots: [root], now: () => purchaseDate }),
  );

/** Signs a sample, with signed placeholders and the environment Sandbox instead of LocalTesting. */
function signSample(name: string): string {
  const text = readSample('models', `${name}.json`).replace('LocalTesting', 'Sandbox');
  const parts = { bundleId: 'com.example', environment: 'Sandbox' };
  const payload = text
    .replace('signed_transaction_info_value', signJws(buildTransactionPayload(parts), applePki))
    .replace('signed_renewal_info_value', signJws(buildRenewalPayload(parts), applePki));
  return signJws(JSON.parse(payload), applePki);
}

describeWithVectors("receive (App Store) with the notifications of Apple's tests", () => {
  const root = readVector(samples, 'certs/testCA.der');

  it('returns the signed notification', async () => {
    const jws = readSample('mock_signed_data/testNotification');
    const appleVerifier = createAppleVerifier(Environment.SANDBOX, { root, bundleId: 'com.example' });
    const { notificationUUID: key, signedDate: occurredAt } = await appleVerifier.verifyAndDecodeNotification(jws);
    expect(await receive(jws, root)).toEqual({
      notifications: [{ key, type: 'TEST', occurredAt, payload: {} }],
    });
  });

  it.each(['wrongBundleId', 'missingX5CHeaderClaim', 'transactionInfo'])('rejects %s', async (name) => {
    await expect(receive(readSample('mock_signed_data', name), root)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it.each([
    ['signedNotification', 'SUBSCRIBED.INITIAL_BUY', 'PURCHASED', 1],
    ['signedConsumptionRequestNotification', 'CONSUMPTION_REQUEST', 'OTHER', 0],
    ['signedSummaryNotification', 'RENEWAL_EXTENSION.SUMMARY', 'OTHER', 0],
    ['signedExternalPurchaseTokenNotification', 'EXTERNAL_PURCHASE_TOKEN.UNREPORTED', 'OTHER', 0],
    ['signedExternalPurchaseTokenSandboxNotification', 'EXTERNAL_PURCHASE_TOKEN.UNREPORTED', 'OTHER', 0],
    ['signedRescindConsentNotification', 'RESCIND_CONSENT', 'OTHER', 0],
  ])('observes %s', async (name, type, reason, purchases) => {
    const received = await receive(signSample(name), applePki.root.der);
    const [notification] = received?.notifications ?? [];
    expect(notification).toMatchObject({
      type,
      occurredAt: 1698148900000,
      key: '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
    });
    if (!notification) throw new Error('The notification is missing.');
    const observed = await appStore.observe?.(notification, createContext({ settings }));
    expect(observed?.reason).toBe(reason);
    expect(observed?.observations).toHaveLength(purchases);
  });
});
