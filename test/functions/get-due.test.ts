import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { reportStreamFailures } from '../../lib/foundation/stream-failure.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { getDue } from '../../lib/problems/contract.ts';
import { buildDelivery, type WebhookDelivery } from '../../lib/webhooks/delivery.ts';
import {
  createDeliveryIfAbsent,
  disableWebhookUrl,
  replaceDelivery,
  saveUrlHealth,
} from '../../lib/webhooks/delivery-table.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
beforeAll(async () => {
  queues = await startWorkQueues();
  // Due items of other tests would exceed the limit of the response.
  service = await startTestService('claimcheck-test-due');
});
afterAll(async () => {
  await service.close();
  await queues.close();
});

const url = 'https://example.com/hook?token=secret';

async function createAppWithWebhook(platforms: readonly 'store_b'[] = []) {
  const keys = await service.createApp(platforms);
  await saveWebhook(
    getService(),
    keys.appName,
    { urls: [url], sandboxUrls: [], includesPassword: false },
    { newSecret: false },
  );
  return keys;
}

async function givenFailedDelivery(appName: string, state: WebhookDelivery['state'], createdAt: number): Promise<void> {
  const notification = { id: randomUUID(), reason: 'RENEWED', date: createdAt } as const;
  const delivery = buildDelivery({ appName, type: 'purchases.updated', url, notification, createdAt });
  await createDeliveryIfAbsent(getService(), delivery);
  await replaceDelivery(
    getService(),
    delivery,
    {
      ...delivery,
      state,
      failedAttempts: 1,
      lastAttemptAt: createdAt,
      failureReason: 'The server responded with 500.',
    },
    createdAt,
  );
}

describe('GET /v3/due', () => {
  it('counts the changes of all apps that a worker could not process', async () => {
    const keys = await createAppWithWebhook();
    const fetchFailures = async () => (await callWithSecretKey(getDue, keys)).body.streamFailures;
    expect(await fetchFailures()).toEqual({ count: 0, isExact: true });
    const { appName } = keys;
    const key = purchaseKey(appName, 'store_a:unreadable');
    const failure = { appName, key, reason: 'entitledUsers: expected an array.', writtenAt: getService().now() };
    await reportStreamFailures(getService(), [
      { ...failure, worker: 'fan-out-webhooks' },
      { ...failure, worker: 'aggregate-statistics' },
    ]);
    expect(await fetchFailures()).toEqual({ count: 2, isExact: true });
  });

  it('counts pending and dead webhooks with the date of the oldest', async () => {
    const { appName, ...keys } = await createAppWithWebhook();
    const now = getService().now();
    await givenFailedDelivery(appName, 'pending', now - 5 * minuteMs);
    await givenFailedDelivery(appName, 'pending', now - minuteMs);
    await givenFailedDelivery(appName, 'dead', now - 9 * minuteMs);
    const { body } = await callWithSecretKey(getDue, { appName, ...keys });
    expect(body).toMatchObject({
      appName,
      pendingWebhooks: { count: 2, oldest: new Date(now - 5 * minuteMs).toISOString(), isExact: true },
      deadWebhooks: { count: 1, oldest: new Date(now - 9 * minuteMs).toISOString(), isExact: true },
    });
  });

  it('counts deliveries without an attempt, and no test webhooks', async () => {
    const { appName, ...keys } = await createAppWithWebhook();
    const now = getService().now();
    const notification = { id: randomUUID(), reason: 'RENEWED', date: now } as const;
    for (const type of ['purchases.updated', 'test'] as const) {
      const createdAt = now - 20 * minuteMs;
      await createDeliveryIfAbsent(getService(), buildDelivery({ appName, type, url, notification, createdAt }));
    }
    await givenFailedDelivery(appName, 'pending', now - 5 * minuteMs);
    const { body } = await callWithSecretKey(getDue, { appName, ...keys });
    expect(body).toMatchObject({
      waitingWebhooks: { count: 1, oldest: new Date(now - 20 * minuteMs).toISOString(), isExact: true },
      pendingWebhooks: { count: 1, isExact: true },
    });
  });

  it('counts the overdue refreshes of the app only', async () => {
    const keys = await service.createApp(['store_b']);
    const applicationUsername = createUniqueName('user');
    const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
    const { validate } = await service.callControl('/purchases', order);
    expect((await service.validate(keys, validate)).body.ok).toBe(true);
    const fetchOverdue = async () => (await callWithSecretKey(getDue, keys)).body.overdueRefreshes;
    expect(await fetchOverdue()).toEqual({ count: 0, isExact: true });
    await service.callControl('/clock', { advance: 'P4D' });
    expect(await fetchOverdue()).toMatchObject({ count: 1, oldest: expect.any(String), isExact: true });
    const other = await service.createApp([]);
    expect((await callWithSecretKey(getDue, other)).body.overdueRefreshes).toMatchObject({ count: 0 });
  });

  it('returns the health of the webhook URLs without their credentials', async () => {
    const keys = await createAppWithWebhook();
    const fetchUrls = async () => (await callWithSecretKey(getDue, keys)).body.webhookUrls;
    expect(await fetchUrls()).toEqual([
      { url: 'https://example.com/hook', state: 'ok', recent: { numDeliveries: 0, numFailed: 0 } },
    ]);
    const backoff = { backoffUntil: getService().now() + minuteMs, consecutiveFailures: 3 };
    await saveUrlHealth(getService(), keys.appName, url, backoff);
    expect(await fetchUrls()).toMatchObject([{ state: 'backoff', consecutiveFailures: 3 }]);
    await disableWebhookUrl(getService(), keys.appName, url, getService().now());
    expect(await fetchUrls()).toMatchObject([{ state: 'disabled', disabledAt: expect.any(String) }]);
  });

  it('reports a URL at which every attempt has failed for a minute, until one succeeds', async () => {
    const { appName, ...keys } = await createAppWithWebhook();
    const now = getService().now();
    const fetchUrl = async () => (await callWithSecretKey(getDue, { appName, ...keys })).body.webhookUrls[0];
    await givenFailedDelivery(appName, 'delivered', now - 9 * minuteMs);
    await givenFailedDelivery(appName, 'pending', now - 5 * minuteMs);
    const setFailingSince = async (failingSince: number | undefined) =>
      await saveUrlHealth(getService(), appName, url, {
        failingSince,
        failureReason: 'The server responded with 500.',
      });
    await setFailingSince(getService().now());
    const failureReason = 'The server responded with 500.';
    expect(await fetchUrl()).toMatchObject({ state: 'ok', recent: { numDeliveries: 2, numFailed: 1, failureReason } });
    await setFailingSince(now - 5 * minuteMs);
    expect(await fetchUrl()).toMatchObject({
      state: 'failing',
      failing: { since: new Date(now - 5 * minuteMs).toISOString(), message: 'The server responded with 500.' },
    });
    await setFailingSince(undefined);
    const recovered = await fetchUrl();
    expect([recovered.state, recovered.failing]).toEqual(['ok', undefined]);
  });
});
