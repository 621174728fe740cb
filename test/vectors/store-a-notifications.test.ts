import { Environment } from '@apple/app-store-server-library';
import { expect, it } from '@jest/globals';
import { storeA } from '../../lib/stores/store-a/store-a.ts';
import { buildRenewalPayload, buildTransactionPayload, purchaseDate } from '../../testing/apple-payloads.ts';
import { signJws } from '../../testing/apple-signatures.ts';
import { createAppleVerifier } from '../../testing/apple-verification.ts';
import { applePki, createContext } from '../../testing/fake-apple.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const samples = 'apple/apple-lib/tests/resources';
const sample = (...path: string[]): string =>
  readVector(samples, ...path)
    .toString('utf8')
    .trim();

const settings = { bundleId: 'com.example' };
const post = async (signedPayload: string, root: Buffer) =>
  await storeA.receive?.(
    { method: 'POST', body: JSON.stringify({ signedPayload }), headers: {}, query: {} },
    createContext({ settings, extraRoots: [root], now: () => purchaseDate }),
  );

/** The sample in an environment that stores have, with its placeholders signed. */
function signedSample(name: string): string {
  const text = sample('models', `${name}.json`).replace('LocalTesting', 'Sandbox');
  const parts = { bundleId: 'com.example', environment: 'Sandbox' };
  const payload = text
    .replace('signed_transaction_info_value', signJws(buildTransactionPayload(parts), applePki))
    .replace('signed_renewal_info_value', signJws(buildRenewalPayload(parts), applePki));
  return signJws(JSON.parse(payload), applePki);
}

describeWithVectors("notifications of Apple's own tests", () => {
  const root = readVector(samples, 'certs/testCA.der');

  it('are received as Apple signed them', async () => {
    const jws = sample('mock_signed_data/testNotification');
    const official = createAppleVerifier(Environment.SANDBOX, { root, bundleId: 'com.example' });
    const { notificationUUID: key, signedDate: at } = await official.verifyAndDecodeNotification(jws);
    expect(await post(jws, root)).toEqual({ messages: [{ key, type: 'TEST', at, content: {} }] });
  });

  it.each(['wrongBundleId', 'missingX5CHeaderClaim', 'transactionInfo'])('are refused: %s', async (name) => {
    const failure = { code: name === 'transactionInfo' ? 'InvalidPayload' : 'Forbidden' };
    await expect(post(sample('mock_signed_data', name), root)).rejects.toMatchObject(failure);
  });

  it.each([
    ['signedNotification', 'SUBSCRIBED.INITIAL_BUY', 'PURCHASED', 1],
    ['signedConsumptionRequestNotification', 'CONSUMPTION_REQUEST', 'OTHER', 0],
    ['signedSummaryNotification', 'RENEWAL_EXTENSION.SUMMARY', 'OTHER', 0],
    ['signedExternalPurchaseTokenNotification', 'EXTERNAL_PURCHASE_TOKEN.UNREPORTED', 'OTHER', 0],
    ['signedExternalPurchaseTokenSandboxNotification', 'EXTERNAL_PURCHASE_TOKEN.UNREPORTED', 'OTHER', 0],
    ['signedRescindConsentNotification', 'RESCIND_CONSENT', 'OTHER', 0],
  ])('are understood: %s', async (name, type, reason, purchases) => {
    const received = await post(signedSample(name), applePki.root.der);
    const [message] = received?.notifications ?? [];
    expect(message).toMatchObject({ type, at: 1698148900000, key: '002e14d5-51f5-4503-b5a8-c3a1af68eb20' });
    if (!message) throw new Error('no message');
    const noticed = await storeA.observe?.(message, createContext({ settings }));
    expect(noticed?.reason).toBe(reason);
    expect(noticed?.observations).toHaveLength(purchases);
  });
});
