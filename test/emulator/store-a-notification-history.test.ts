import { AppStoreServerAPIClient, Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { createClock } from '../../emulator/clock.ts';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { type NotificationReceiver, respondWithStatus, startReceiver, waitUntil } from './notification-receiver.ts';

let user: EmulatorClient;
let receiver: NotificationReceiver;
beforeAll(async () => {
  // The official client signs its tokens by the real time.
  user = await startEmulatorClient({ clock: createClock() });
});
afterAll(() => user.close());
beforeEach(async () => {
  receiver = await startReceiver();
  user.setNotificationUrl('store_a', receiver.url);
});
afterEach(async () => {
  receiver.close();
  await user.control('DELETE', '/control/notifications');
});

/** Apple's own API client, its calls led to the emulator. */
function client(): AppStoreServerAPIClient {
  const { privateKey, keyId, issuerId, bundleId } = user.settings('store_a') as Record<string, string>;
  const made = new AppStoreServerAPIClient(
    privateKey ?? '',
    keyId ?? '',
    issuerId ?? '',
    bundleId ?? '',
    Environment.PRODUCTION,
  );
  const makeFetchRequest = (
    path: string,
    query: URLSearchParams,
    method: string,
    body: string,
    headers: Record<string, string>,
  ) => fetch(`${user.url}/api.storekit.apple.com${path}?${query}`, { method, headers, ...(body && { body }) });
  return Object.assign(made, { makeFetchRequest });
}

function decoded(signedPayload = '') {
  const { bundleId, appAppleId } = user.settings('store_a');
  const roots = [user.rootCertificate];
  const verifier = new SignedDataVerifier(roots, false, Environment.PRODUCTION, String(bundleId), Number(appAppleId));
  return verifier.verifyAndDecodeNotification(signedPayload);
}

const today = () => ({ startDate: user.clock.now() - 86_400_000, endDate: user.clock.now() + 1 });

/** Waits until every notification that is not held was attempted at least once. */
const attempted = (): Promise<void> =>
  waitUntil(async () => {
    const { body } = await user.control('GET', '/control/notifications');
    return body.notifications.every(
      ({ state, attempts }: { state: string; attempts: object[] }) => state === 'held' || attempts.length > 0,
    );
  });

describe('the history of notifications', () => {
  it('has those of one customer, with how each attempt went', async () => {
    const { id } = (await user.buy({ productId: 'history' })).body;
    await attempted();
    receiver.respondWith(respondWithStatus(500));
    await user.act(id, 'cancel');
    await attempted();
    const history = await client().getNotificationHistory(null, { ...today(), transactionId: id });
    expect(history.hasMore).toBe(false);
    const items = await Promise.all(
      (history.notificationHistory ?? []).map(async ({ signedPayload, sendAttempts }) => ({
        type: (await decoded(signedPayload)).notificationType,
        results: sendAttempts?.map(({ sendAttemptResult }) => sendAttemptResult),
      })),
    );
    expect(items).toEqual([
      { type: 'SUBSCRIBED', results: ['SUCCESS'] },
      { type: 'DID_CHANGE_RENEWAL_STATUS', results: ['UNSUCCESSFUL_HTTP_RESPONSE_CODE'] },
    ]);
  });

  it('has only what was never delivered when asked for that, the same that was posted', async () => {
    const { id } = (await user.buy({ productId: 'failures' })).body;
    await attempted();
    receiver.respondWith(respondWithStatus(500));
    await user.act(id, 'refund');
    await attempted();
    await user.control('POST', '/control/notifications', { held: true });
    await user.act(id, 'renew');
    const { notificationHistory = [] } = await client().getNotificationHistory(null, {
      ...today(),
      transactionId: id,
      onlyFailures: true,
    });
    const types = await Promise.all(
      notificationHistory.map(async ({ signedPayload }) => (await decoded(signedPayload)).notificationType),
    );
    expect(types).toEqual(['REFUND', 'DID_CHANGE_RENEWAL_STATUS', 'SUBSCRIBED']);
    expect(receiver.received.map(({ body }) => JSON.parse(body).signedPayload)).toEqual(
      expect.arrayContaining(notificationHistory.slice(0, 2).map(({ signedPayload }) => signedPayload)),
    );
  });

  it('has twenty to a page', async () => {
    const { id } = (await user.buy({ productId: 'pages' })).body;
    for (let turn = 0; turn < 12; turn += 1) {
      await user.act(id, 'cancel');
      await user.act(id, 'uncancel');
    }
    await attempted();
    const wanted = { ...today(), transactionId: id };
    const first = await client().getNotificationHistory(null, wanted);
    const second = await client().getNotificationHistory(first.paginationToken ?? '', wanted);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    const all = [...(first.notificationHistory ?? []), ...(second.notificationHistory ?? [])];
    expect(new Set(all.map(({ signedPayload }) => signedPayload)).size).toBe(25);
    await expect(client().getNotificationHistory('nonsense', wanted)).rejects.toMatchObject({ apiError: 4000014 });
  });

  test.each<[object, number]>([
    [{ startDate: 2, endDate: 1 }, 4000013],
    [{ startDate: 1, endDate: 2 }, 4000012],
    [{ endDate: 2 }, 4000015],
    [{ startDate: 1 }, 4000016],
  ])('refuses %j', async (request, apiError) => {
    await expect(client().getNotificationHistory(null, request)).rejects.toMatchObject({ apiError });
  });

  it('refuses two filters at once', async () => {
    const request = { ...today(), transactionId: '1', notificationType: 'TEST' };
    await expect(client().getNotificationHistory(null, request as object)).rejects.toMatchObject({ apiError: 4000019 });
  });
});

describe('a test notification', () => {
  it('is posted at once and tells how it went', async () => {
    const { testNotificationToken = '' } = await client().requestTestNotification();
    const [received] = await receiver.waitForCount(1);
    const posted = JSON.parse(received?.body ?? '').signedPayload;
    expect(await decoded(posted)).toMatchObject({ notificationType: 'TEST', data: { bundleId: 'com.example.app' } });
    await attempted();
    expect(await client().getTestNotificationStatus(testNotificationToken)).toEqual({
      signedPayload: posted,
      sendAttempts: [{ attemptDate: expect.any(Number), sendAttemptResult: 'SUCCESS' }],
    });
  });

  it('needs a URL to be posted to', async () => {
    await user.control('PUT', '/control/notifications/store_a', { url: null });
    await expect(client().requestTestNotification()).rejects.toMatchObject({ apiError: 4040007 });
  });

  test.each([
    ['nonsense', 4000020],
    ['00000000-0000-4000-8000-000000000000_1', 4040008],
  ])('with the token %s is not found', async (token, apiError) => {
    await expect(client().getTestNotificationStatus(token)).rejects.toMatchObject({ apiError });
  });
});

describe('the id of a download', () => {
  it('finds the customer, but no transaction', async () => {
    const { id } = (await user.buy({ applicationUsername: 'downloader' })).body;
    const { signedTransactionInfo = '' } = await client().getTransactionInfo(id);
    const { appTransactionId } = JSON.parse(
      Buffer.from(signedTransactionInfo.split('.')[1] ?? '', 'base64url').toString(),
    );
    const statuses = await client().getAllSubscriptionStatuses(appTransactionId);
    expect(statuses.data?.[0]?.lastTransactions).toMatchObject([{ originalTransactionId: id }]);
    await expect(client().getTransactionInfo(appTransactionId)).rejects.toMatchObject({ apiError: 4000048 });
  });
});
