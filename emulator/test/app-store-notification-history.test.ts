import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import { createClock } from '../clock.ts';
import { createApiClient, createVerifier } from './apple-client.ts';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { type NotificationReceiver, respondWithStatus, startReceiver, waitUntil } from './notification-receiver.ts';

let client: EmulatorClient;
let receiver: NotificationReceiver;
beforeAll(async () => {
  // Apple's client signs its tokens with the real time.
  client = await startEmulatorClient({ clock: createClock() });
});
afterAll(() => client.close());
beforeEach(async () => {
  receiver = await startReceiver();
  client.setNotificationUrl('store_a', receiver.url);
});
afterEach(async () => {
  receiver.close();
  await client.control('DELETE', '/control/notifications');
});

const decodeNotification = (signedPayload = '') => createVerifier(client).verifyAndDecodeNotification(signedPayload);

const today = () => ({ startDate: client.clock.now() - dayMs, endDate: client.clock.now() + 1 });

/** Waits until each notification that is not held has an attempt. */
const waitUntilAttempted = (): Promise<void> =>
  waitUntil(async () => {
    const { body } = await client.control('GET', '/control/notifications');
    return body.notifications.every(
      ({ state, attempts }: { state: string; attempts: object[] }) => state === 'held' || attempts.length > 0,
    );
  });

describe('POST /inApps/v1/notifications/history', () => {
  it('returns the notifications of a customer with the result of each attempt', async () => {
    const { id } = (await client.buy({ productId: 'history' })).body;
    await waitUntilAttempted();
    receiver.respondWith(respondWithStatus(500));
    await client.act(id, 'cancel');
    await waitUntilAttempted();
    const history = await createApiClient(client).getNotificationHistory(null, { ...today(), transactionId: id });
    expect(history.hasMore).toBe(false);
    const items = await Promise.all(
      (history.notificationHistory ?? []).map(async ({ signedPayload, sendAttempts }) => ({
        type: (await decodeNotification(signedPayload)).notificationType,
        results: sendAttempts?.map(({ sendAttemptResult }) => sendAttemptResult),
      })),
    );
    expect(items).toEqual([
      { type: 'SUBSCRIBED', results: ['SUCCESS'] },
      { type: 'DID_CHANGE_RENEWAL_STATUS', results: ['UNSUCCESSFUL_HTTP_RESPONSE_CODE'] },
    ]);
  });

  it('returns only undelivered notifications on request, identical to the posted ones', async () => {
    const { id } = (await client.buy({ productId: 'failures' })).body;
    await waitUntilAttempted();
    receiver.respondWith(respondWithStatus(500));
    await client.act(id, 'refund');
    await waitUntilAttempted();
    await client.control('POST', '/control/notifications', { held: true });
    await client.act(id, 'renew');
    const { notificationHistory = [] } = await createApiClient(client).getNotificationHistory(null, {
      ...today(),
      transactionId: id,
      onlyFailures: true,
    });
    const types = await Promise.all(
      notificationHistory.map(async ({ signedPayload }) => (await decodeNotification(signedPayload)).notificationType),
    );
    expect(types).toEqual(['REFUND', 'DID_CHANGE_RENEWAL_STATUS', 'SUBSCRIBED']);
    expect(receiver.received.map(({ body }) => JSON.parse(body).signedPayload)).toEqual(
      expect.arrayContaining(notificationHistory.slice(0, 2).map(({ signedPayload }) => signedPayload)),
    );
  });

  it('does not return a notification as undelivered before the result of its first attempt', async () => {
    receiver.respondWith(() => {});
    const { id: transactionId } = (await client.buy({ productId: 'first-attempt' })).body;
    await receiver.waitForCount(1);
    const lengths = [true, false].map(async (onlyFailures) => {
      const query = { ...today(), transactionId, onlyFailures };
      return (await createApiClient(client).getNotificationHistory(null, query)).notificationHistory?.length;
    });
    expect(await Promise.all(lengths)).toEqual([0, 1]);
  });

  it('returns 20 notifications per page', async () => {
    const { id } = (await client.buy({ productId: 'pages' })).body;
    for (let turn = 0; turn < 12; turn += 1) {
      await client.act(id, 'cancel');
      await client.act(id, 'uncancel');
    }
    await waitUntilAttempted();
    const query = { ...today(), transactionId: id };
    const first = await createApiClient(client).getNotificationHistory(null, query);
    const second = await createApiClient(client).getNotificationHistory(first.paginationToken ?? '', query);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    const all = [...(first.notificationHistory ?? []), ...(second.notificationHistory ?? [])];
    expect(new Set(all.map(({ signedPayload }) => signedPayload)).size).toBe(25);
    await expect(createApiClient(client).getNotificationHistory('nonsense', query)).rejects.toMatchObject({
      apiError: 4000014,
    });
  });

  test.each<[object, number]>([
    [{ startDate: 2, endDate: 1 }, 4000013],
    [{ startDate: 1, endDate: 2 }, 4000012],
    [{ endDate: 2 }, 4000015],
    [{ startDate: 1 }, 4000016],
  ])('rejects %j', async (request, apiError) => {
    await expect(createApiClient(client).getNotificationHistory(null, request)).rejects.toMatchObject({ apiError });
  });

  it('rejects a combination of two filters', async () => {
    const request = { ...today(), transactionId: '1', notificationType: 'TEST' };
    await expect(createApiClient(client).getNotificationHistory(null, request as object)).rejects.toMatchObject({
      apiError: 4000019,
    });
  });
});

describe('/inApps/v1/notifications/test', () => {
  it('posts a test notification and returns the result', async () => {
    const { testNotificationToken = '' } = await createApiClient(client).requestTestNotification();
    const [received] = await receiver.waitForCount(1);
    const posted = JSON.parse(received?.body ?? '').signedPayload;
    expect(await decodeNotification(posted)).toMatchObject({
      notificationType: 'TEST',
      data: { bundleId: 'com.example.app' },
    });
    await waitUntilAttempted();
    expect(await createApiClient(client).getTestNotificationStatus(testNotificationToken)).toEqual({
      signedPayload: posted,
      sendAttempts: [{ attemptDate: expect.any(Number), sendAttemptResult: 'SUCCESS' }],
    });
  });

  it('rejects a request without a notification URL', async () => {
    await client.control('PUT', '/control/notifications/store_a', { url: null });
    await expect(createApiClient(client).requestTestNotification()).rejects.toMatchObject({ apiError: 4040007 });
  });

  test.each([
    ['nonsense', 4000020],
    ['00000000-0000-4000-8000-000000000000_1', 4040008],
  ])('rejects the token %s', async (token, apiError) => {
    await expect(createApiClient(client).getTestNotificationStatus(token)).rejects.toMatchObject({ apiError });
  });
});

describe('the app transaction id of the emulated App Store', () => {
  it('identifies the customer, but not a transaction', async () => {
    const { id } = (await client.buy({ applicationUsername: 'downloader' })).body;
    const { signedTransactionInfo = '' } = await createApiClient(client).getTransactionInfo(id);
    const { appTransactionId } = JSON.parse(
      Buffer.from(signedTransactionInfo.split('.')[1] ?? '', 'base64url').toString(),
    );
    const statuses = await createApiClient(client).getAllSubscriptionStatuses(appTransactionId);
    expect(statuses.data?.[0]?.lastTransactions).toMatchObject([{ originalTransactionId: id }]);
    await expect(createApiClient(client).getTransactionInfo(appTransactionId)).rejects.toMatchObject({
      apiError: 4000048,
    });
  });
});
