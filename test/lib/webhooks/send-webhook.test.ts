import { describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { findApp } from '../../../lib/apps/app-table.ts';
import { changeSettings } from '../../../lib/apps/manage-apps.ts';
import { listEventsByTags } from '../../../lib/events/event-list-table.ts';
import { findRawEvent } from '../../../lib/events/event-table.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import { customerKey } from '../../../lib/foundation/keys.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../lib/foundation/time.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/prepare-update.ts';
import { buildDelivery } from '../../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, findDelivery, saveUrlHealth } from '../../../lib/webhooks/delivery-table.ts';
import { enqueueReplay } from '../../../lib/webhooks/enqueue-replays.ts';
import { fanOutDeliveries } from '../../../lib/webhooks/fan-out.ts';
import { rotateSigningSecret, saveWebhook, sendTestWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { retryDelaysMs } from '../../../lib/webhooks/retry-schedule.ts';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { buildLinkInput } from '../../../testing/purchase-inputs.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import {
  createWebhookHarness,
  listDeliveries,
  replayDeadDeliveries,
  type WebhookHarness,
  type WrapCall,
} from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase, buildRenewal, purchaseId } from './purchase-updates.ts';

const getServer = useApplicationServer();

/** The health of a URL after several consecutive timeouts. */
const buildBackoff = ({ now }: WebhookHarness) => ({ consecutiveFailures: 7, backoffUntil: now + 20 * minuteMs });

/** Replaces the app's webhook URLs by one URL. */
async function setOnlyUrl({ keys, service }: WebhookHarness, path: string): Promise<void> {
  const settings = { urls: [`${getServer().url}${path}`], sandboxUrls: [], includesPassword: true };
  await saveWebhook(service, keys.appName, settings, { newSecret: false });
}

const listBodies = () => getServer().requests.map(({ body }) => JSON.parse(body));
const listPaths = () => getServer().requests.map(({ path }) => path);
const listWebhookIds = () => getServer().requests.map(({ headers }) => headers['webhook-id']);
const listFailureReasons = async ({ keys, service }: WebhookHarness) =>
  (await listDeliveries(service, keys.appName, 'dead')).map(({ failureReason }) => failureReason);

/** Records the update, fans it out and runs the workers until the given time. */
async function announce(
  harness: WebhookHarness,
  input: RecordPurchaseInput = buildPurchase('ann'),
  until = harness.now,
): Promise<void> {
  await harness.fanOut([await harness.recordUpdate(purchaseId, input)]);
  await harness.workUntil(until);
}

describe('sendWebhook to an app server that is down', () => {
  it.each([
    ['reports the URL after an hour', undefined, 1],
    ['does not report the URL if a webhook arrives within the hour', 90 * minuteMs, 0],
  ])('%s', async (_name, successAfterMs, numReports) => {
    const error = jest.spyOn(console, 'error').mockImplementation(() => {});
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    getServer().respondWith({ status: 500 });
    await announce(harness, buildPurchase('ann'), startDate + 59 * minuteMs);
    const listReports = () =>
      error.mock.calls
        .map(([entry]) => entry as Readonly<Record<string, unknown>>)
        .filter(({ problem }) => problem === 'WebhookUrlFailing');
    expect(listReports()).toEqual([]);
    if (successAfterMs !== undefined) {
      await harness.workUntil(startDate + successAfterMs);
      getServer().respondWith({ status: 200 });
      const validation = { strategy: 'last', trigger: 'validation', now: harness.now } as const;
      await announce(harness, buildPurchase('bob', validation));
      getServer().respondWith({ status: 500 });
    }
    await harness.workUntil(startDate + 3 * hourMs);
    const reports = listReports();
    error.mockRestore();
    expect(reports).toHaveLength(numReports);
    const message = expect.stringContaining('The server responded with 500');
    for (const report of reports) expect(report).toMatchObject({ app: harness.keys.appName, message });
  });
});

it('reports a URL that fails while 300 newer webhooks go to another URL', async () => {
  const error = jest.spyOn(console, 'error').mockImplementation(() => {});
  const harness = await createWebhookHarness({ urls: [`${getServer().url}/down`] });
  const { appName } = harness.keys;
  getServer().respondWith({ status: 500 });
  await announce(harness, buildPurchase('ann'), startDate + 2 * hourMs);
  const notification = { id: 'n', reason: 'RENEWED', date: harness.now } as const;
  const other = { appName, type: 'purchases.updated', notification, createdAt: harness.now } as const;
  for (let index = 0; index < 300; index++)
    await createDeliveryIfAbsent(
      harness.service,
      buildDelivery({ ...other, url: `${getServer().url}/up`, notification: { ...notification, id: `n-${index}` } }),
    );
  await harness.workUntil(startDate + 3 * hourMs);
  const messages = error.mock.calls.map(([entry]) => JSON.stringify(entry));
  error.mockRestore();
  expect(messages).toContainEqual(expect.stringContaining('WebhookUrlFailing'));
});

describe('fanOutDeliveries', () => {
  it('creates webhooks for the users who are entitled and for those who lost the purchase', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await announce(harness, buildPurchase('ann', { strategy: 'last' }));
    const validation = { strategy: 'last', trigger: 'validation', now: startDate + minuteMs } as const;
    await announce(harness, buildPurchase('bob', validation));
    const purchasesByUser = listBodies().map(({ applicationUsername, purchases }) => [
      applicationUsername,
      Object.keys(purchases),
    ]);
    expect(purchasesByUser.slice(1).sort()).toEqual([
      ['ann', []],
      ['bob', ['store_a:monthly']],
    ]);
    expect(new Set(listWebhookIds()).size).toBe(3);
  });

  it('creates a webhook for a new claimer only, and for all users if the purchase changes', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const users = ['ann', 'bob', 'eve'];
    for (const [index, user] of users.entries()) {
      const validation = { trigger: 'validation', now: startDate + index * minuteMs } as const;
      await announce(harness, buildPurchase(user, validation));
    }
    const listRecipients = () => listBodies().map(({ applicationUsername }) => applicationUsername);
    // The first validation announces PURCHASED and RECEIPT_VALIDATED.
    expect(listRecipients()).toEqual(['ann', 'ann', 'bob', 'eve']);
    expect(listBodies().slice(2)).toMatchObject(Array(2).fill({ notification: { reason: 'RECEIPT_VALIDATED' } }));
    await announce(harness, buildRenewal(startDate + dayMs));
    expect(listRecipients().slice(4).sort()).toEqual(users);
    await announce(harness, buildLinkInput('ann', startDate + 2 * dayMs));
    expect(listRecipients().slice(7).sort()).toEqual(['bob', 'eve']);
  });

  it('creates a delivery for each of hundreds of users of a purchase', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const record = await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    const entitledUsers = Array.from({ length: 250 }, (_, index) => `user-${index}`);
    const { table } = harness.service;
    await table.batchPut(entitledUsers.map((username) => ({ ...customerKey(record.appName, username), username })));
    await fanOutDeliveries(harness.service, [{ ...record, after: { ...record.after, entitledUsers } }]);
    expect(new Set(harness.queue.map(({ message }) => message.deliveryId)).size).toBe(250);
  });

  it('creates no delivery for a user who was erased after the change', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const record = await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    await harness.service.table.batchDelete([customerKey(record.appName, 'ann')]);
    await harness.fanOut([record]);
    expect(harness.queue).toEqual([]);
  });

  it('sends a webhook to every URL, for sandbox purchases only to the sandbox URLs', async () => {
    const urls = [`${getServer().url}/one`, `${getServer().url}/two`];
    const harness = await createWebhookHarness({ urls, sandboxUrls: [`${getServer().url}/sandbox`] });
    await announce(harness);
    expect(listPaths().sort()).toEqual(['/one', '/two']);
    const observation = createObservation({ purchaseId: 'store_a:9', transactionId: 'store_a:9', sandbox: true });
    await harness.fanOut([await harness.recordUpdate('store_a:9', buildPurchase('ann', { observation }))]);
    await harness.workUntil(harness.now);
    expect(listPaths().slice(2)).toEqual(['/sandbox']);
  });

  it('creates one delivery per URL even if the URL is set twice', async () => {
    const { url } = getServer();
    const sandboxUrls = [`${url}/sandbox`, `${url}/sandbox`];
    const harness = await createWebhookHarness({ urls: [url, `${url}/two`, url], sandboxUrls });
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    expect(harness.queue).toHaveLength(2);
    await harness.workUntil(harness.now);
    expect(listPaths().sort()).toEqual(['/', '/two']);
    const app = await findApp(harness.service, harness.keys.appName);
    expect(app?.webhookSettings?.sandboxUrls).toEqual([`${url}/sandbox`]);
  });

  it('creates each delivery once for repeated records', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const record = await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    await harness.fanOut([record, record]);
    await harness.workUntil(harness.now);
    await harness.fanOut([record]);
    await harness.workUntil(harness.now + dayMs);
    expect(getServer().requests).toHaveLength(1);
  });

  it('creates no delivery without a webhook URL, a new version or a remaining purchase', async () => {
    const harnessWithoutUrl = await createWebhookHarness({ urls: [] });
    await announce(harnessWithoutUrl);
    expect(harnessWithoutUrl.queue).toEqual([]);
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const record = await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    const { after = {}, ...unchanged } = record;
    await fanOutDeliveries(harness.service, [{ ...unchanged, before: after, after }]);
    await fanOutDeliveries(harness.service, [buildStreamRecord({ before: after }, 1)]);
    expect(harness.queue).toEqual([]);
  });
});

describe('sendWebhook', () => {
  it('sends the documented body with a Standard Webhooks signature', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/hooks`] });
    harness.now = Date.now();
    await announce(harness);
    const [request] = getServer().requests;
    const headers = request?.headers as Record<string, string>;
    const body = new Webhook(harness.signingSecret).verify(request?.body ?? '', headers);
    expect(body).toEqual({
      type: 'purchases.updated',
      password: harness.keys.secretKey,
      notification: {
        reason: 'PURCHASED',
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        date: '2026-01-01T00:00:00.000Z',
        productId: 'store_a:monthly',
        purchaseId,
        transactionId: purchaseId,
      },
      applicationUsername: 'ann',
      purchases: {
        'store_a:monthly': expect.objectContaining({ purchaseId, expirationDate: '2026-02-01T00:00:00.000Z' }),
      },
    });
    expect(request).toMatchObject({ path: '/hooks', headers: { 'content-type': 'application/json' } });
    expect(await listDeliveries(harness.service, harness.keys.appName, undefined)).toEqual([]);
  });

  it('signs with each secret for the overlap of a rotation', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/hooks`] });
    const { service, keys, signingSecret: former } = harness;
    harness.now = Date.now();
    const current = (await rotateSigningSecret(service, keys.appName, minuteMs)) ?? '';
    const listAccepting = async () => {
      getServer().requests.length = 0;
      await sendTestWebhook(service, keys.appName);
      await harness.workUntil(harness.now);
      const [{ body, headers } = { body: '', headers: {} }] = getServer().requests;
      const accepts = (secret: string): boolean => {
        try {
          return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
        } catch {
          return false;
        }
      };
      return [former, current].map(accepts);
    };
    expect(await listAccepting()).toEqual([true, true]);
    harness.now += minuteMs;
    expect(await listAccepting()).toEqual([false, true]);
  });

  it('omits the password and uses the brand vocabulary according to the settings', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url], sendsPassword: false });
    await changeSettings(harness.service, harness.keys.appName, { vocabulary: 'brand' });
    await announce(harness);
    const [body] = listBodies();
    expect(body).not.toHaveProperty('password');
    expect(body.notification).toMatchObject({ purchaseId: 'apple:1', productId: 'apple:monthly' });
    expect(body.purchases['apple:monthly']).toMatchObject({ platform: 'apple', purchaseId: 'apple:1' });
  });

  it('records an event with the status and the start of the response, without secrets', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/hooks?token=token-of-the-url`] });
    const { appName, secretKey } = harness.keys;
    getServer().respondWith(({ body }) => ({ status: 500, body: `oh no: ${harness.signingSecret.slice(6)} ${body}` }));
    await announce(harness);
    const [event] = await listEventsByTags(harness.service, appName, ['ann'], 10);
    expect(event).toMatchObject({ type: 'webhook.app.called', outcome: { ok: false }, applicationUsername: 'ann' });
    const raw = await findRawEvent(harness.service, appName, event?.eventId ?? '');
    expect(raw).toMatchObject({
      response: { body: { status: 500, message: expect.stringContaining('oh no') } },
      externalRequests: [{ method: 'POST', response: { status: 500 }, timing: { startedAt: startDate } }],
    });
    const text = JSON.stringify([event, raw]);
    for (const secret of [secretKey, harness.signingSecret.slice(6), 'token-of-the-url'])
      expect(text).not.toContain(secret);
  });

  it.each([
    ['a URL without https', () => getServer().url, 'The webhook URL does not start with https.'],
    ['a private address', () => 'https://127.0.0.1/hooks', 'The webhook URL has an address that is not public.'],
  ])('does not send to %s', async (_kind, getUrl, failureReason) => {
    const harness = await createWebhookHarness({ urls: [getUrl()], allowsLoopback: false });
    await announce(harness);
    expect(getServer().requests).toEqual([]);
    const deliveries = await listDeliveries(harness.service, harness.keys.appName, 'pending');
    expect(deliveries).toMatchObject([{ failureReason, failedAttempts: 1 }]);
  });
});

describe('sendTestWebhook', () => {
  it('sends a test webhook to all URLs, sandbox URLs included', async () => {
    const urls = { urls: [`${getServer().url}/live`], sandboxUrls: [`${getServer().url}/sandbox`] };
    const harness = await createWebhookHarness(urls);
    await sendTestWebhook(harness.service, harness.keys.appName);
    await harness.workUntil(harness.now);
    expect(listPaths().sort()).toEqual(['/live', '/sandbox']);
  });
});

describe('sendWebhook (retries)', () => {
  it('repeats a webhook through an outage of two days with the same id and the current purchases', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const timesMs: number[] = [];
    getServer().respondWith(() => {
      timesMs.push(harness.now - startDate);
      return { status: harness.now < startDate + 2 * dayMs ? 500 : 204 };
    });
    await announce(harness, buildPurchase('ann'), startDate + dayMs);
    await harness.recordUpdate(purchaseId, buildRenewal(startDate + dayMs));
    await harness.workUntil(startDate + 4 * dayMs);
    const minTimesMs = retryDelaysMs.map((_delayMs, index) =>
      retryDelaysMs.slice(0, index + 1).reduce((sum, delayMs) => sum + delayMs, 0),
    );
    const expectedTimesMs = [0, ...minTimesMs].slice(0, timesMs.length);
    expect(timesMs.length).toBeGreaterThanOrEqual(8);
    for (const [index, timeMs] of timesMs.entries()) {
      const expectedMs = expectedTimesMs[index] ?? 0;
      expect(timeMs).toBeGreaterThanOrEqual(expectedMs);
      expect(timeMs).toBeLessThanOrEqual(expectedMs * 1.1 + index * 2 * minuteMs);
    }
    expect(new Set(listWebhookIds()).size).toBe(1);
    expect(listBodies().at(-1).purchases['store_a:monthly'].transactionId).toBe('store_a:2');
    expect(await listDeliveries(harness.service, harness.keys.appName, undefined)).toEqual([]);
  });

  it('ends with a dead delivery after ten attempts, which can be replayed', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 500 });
    await announce(harness, buildPurchase('ann'), startDate + 6 * dayMs);
    expect(getServer().requests).toHaveLength(10);
    const [deadDelivery] = await listDeliveries(harness.service, appName, 'dead');
    expect(deadDelivery).toMatchObject({
      failedAttempts: 10,
      lastHttpStatus: 500,
      failureReason: 'The server responded with 500.',
      username: 'ann',
    });
    getServer().respondWith({ status: 200 });
    await enqueueReplay(harness.service, appName, deadDelivery?.deliveryId ?? '');
    await harness.workUntil(harness.now);
    expect(getServer().requests).toHaveLength(11);
    expect(listWebhookIds()[10]).toBe(listWebhookIds()[0]);
    expect(await listDeliveries(harness.service, appName, undefined)).toEqual([]);
  });

  it('postpones a replayed delivery during the backoff of its URL', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 503 });
    await announce(harness, buildPurchase('ann'), startDate + 8 * dayMs);
    await saveUrlHealth(harness.service, appName, getServer().url, buildBackoff(harness));
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await replayDeadDeliveries(harness);
    await harness.workUntil(harness.now + 2 * dayMs);
    expect(getServer().requests).toHaveLength(1);
    expect(await listDeliveries(harness.service, appName, undefined)).toEqual([]);
  });

  it('respects the Retry-After header', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    getServer().respondWith({ status: 429, headers: { 'retry-after': '3600' } });
    await announce(harness, buildPurchase('ann'), startDate + 59 * minuteMs);
    expect(getServer().requests).toHaveLength(1);
    await harness.workUntil(startDate + 68 * minuteMs);
    expect(getServer().requests).toHaveLength(2);
  });

  it('sends a test webhook once, and states what to do if the server refuses the connection', async () => {
    const harness = await createWebhookHarness({ urls: ['http://127.0.0.1:1/hook'] });
    await sendTestWebhook(harness.service, harness.keys.appName);
    await harness.workUntil(startDate + dayMs);
    expect(await listDeliveries(harness.service, harness.keys.appName, 'dead')).toMatchObject([
      {
        failedAttempts: 1,
        failureReason: expect.stringMatching(
          /\S A test webhook is sent once: correct the server, then send another one\.$/,
        ),
      },
    ]);
  });

  it('counts an internal error as a failed attempt', async () => {
    let isDatabaseDown = true;
    const around: WrapCall = async (name, call) => {
      if (isDatabaseDown && name === 'query') throw new Error('the database is down');
      return await call();
    };
    const harness = await createWebhookHarness({ urls: [getServer().url], around });
    const logEntries: unknown[] = [];
    const originalConsoleError = console.error;
    console.error = (entry: unknown) => void logEntries.push(entry);
    await announce(harness);
    console.error = originalConsoleError;
    isDatabaseDown = false;
    expect(JSON.stringify(logEntries)).toContain('the database is down');
    const deliveries = await listDeliveries(harness.service, harness.keys.appName, 'pending');
    expect(deliveries).toMatchObject([
      { failedAttempts: 1, failureReason: expect.stringMatching(/could not be sent/) },
    ]);
    expect(getServer().requests).toHaveLength(0);
    await harness.workUntil(startDate + minuteMs);
    expect(getServer().requests).toHaveLength(1);
  });

  it('retries by the due item if the queue message is lost', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    getServer().respondWith({ status: 500 });
    await announce(harness);
    expect(harness.queue.splice(0)).toHaveLength(1);
    getServer().respondWith({ status: 200 });
    await harness.workUntil(startDate + 3 * minuteMs);
    expect(getServer().requests).toHaveLength(2);
  });
});

describe('redirectDelivery', () => {
  it('redirects a pending delivery to the new URLs', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    getServer().respondWith(({ path }) => ({ status: path === '/other' ? 200 : 500 }));
    await announce(harness);
    const urls = [`${getServer().url}/other`, `${getServer().url}/other?2`];
    const settings = { urls, sandboxUrls: [], includesPassword: true };
    await saveWebhook(harness.service, appName, settings, { newSecret: false });
    await harness.workUntil(startDate + minuteMs);
    const [firstBody, secondBody] = listBodies();
    expect(listPaths().slice(0, 2)).toEqual(['/', '/other']);
    expect(secondBody).toEqual(firstBody);
    const deliveries = await listDeliveries(harness.service, appName, undefined);
    expect(deliveries.map(({ state, url }) => [state, url])).toEqual([['pending', `${getServer().url}/other?2`]]);
  });

  it('keeps the entitlements and the event of the delivery', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/first`] });
    const { appName } = harness.keys;
    const subject = {
      entitlement: 'pro',
      changedEntitlements: ['sync'],
      previousProductId: 'store_a:monthly',
      eventId: createEventId(startDate),
    };
    const notification = { id: 'n-1', reason: 'OTHER', date: startDate } as const;
    const common = { appName, type: 'purchases.updated', username: 'ann', notification, createdAt: startDate } as const;
    const delivery = buildDelivery({ ...common, ...subject, url: `${getServer().url}/first` });
    await createDeliveryIfAbsent(harness.service, delivery);
    await setOnlyUrl(harness, '/second');
    await sendWebhook(harness.service, { appName, deliveryId: delivery.deliveryId });
    await harness.workUntil(harness.now);
    const { deliveryId } = buildDelivery({ ...common, url: `${getServer().url}/second` });
    expect(await findDelivery(harness.service, appName, deliveryId)).toMatchObject({ ...subject, state: 'delivered' });
    expect(listBodies()).toMatchObject([{ entitlementsChanged: ['pro', 'sync'] }]);
    expect(getServer().requests[0]?.headers).toMatchObject({ 'x-request-id': subject.eventId });
  });

  it.each([
    ['pending', minuteMs],
    ['dead and replayed', 6 * dayMs],
  ])('returns to the first URL if that is set again while the delivery is %s', async (_state, afterMs) => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/first`] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 500 });
    await announce(harness);
    await setOnlyUrl(harness, '/second');
    await harness.workUntil(startDate + afterMs);
    await setOnlyUrl(harness, '/first');
    await replayDeadDeliveries(harness);
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await harness.workUntil(harness.now + dayMs);
    expect(listPaths()).toEqual(['/first']);
    expect(await listDeliveries(harness.service, appName, undefined)).toEqual([]);
  });

  it('returns to the first URL days later and during its backoff', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/first`] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 500 });
    await announce(harness);
    await setOnlyUrl(harness, '/second');
    await harness.workUntil(startDate + 8 * dayMs);
    await setOnlyUrl(harness, '/first');
    await saveUrlHealth(harness.service, appName, `${getServer().url}/first`, buildBackoff(harness));
    await replayDeadDeliveries(harness);
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await harness.workUntil(harness.now + 2 * dayMs);
    expect(listPaths()).toEqual(['/first']);
  });

  it.each([
    ['production', createObservation(), '/live'],
    ['sandbox', createObservation({ sandbox: true }), '/first'],
  ])('selects the URL for a %s purchase if its URL becomes a sandbox URL', async (_kind, observation, path) => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/first`] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 500 });
    await announce(harness, buildPurchase('ann', { observation }));
    const settings = {
      urls: [`${getServer().url}/live`],
      sandboxUrls: [`${getServer().url}/first`],
      includesPassword: true,
    };
    await saveWebhook(harness.service, appName, settings, { newSecret: false });
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await harness.workUntil(startDate + dayMs);
    expect(listPaths()).toEqual([path]);
  });

  it('ends the deliveries of an app without webhook URLs, tests included', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    getServer().respondWith({ status: 500 });
    await announce(harness);
    await sendTestWebhook(harness.service, appName);
    const settings = { urls: [], sandboxUrls: [], includesPassword: true };
    await saveWebhook(harness.service, appName, settings, { newSecret: false });
    await harness.workUntil(startDate + dayMs);
    expect(getServer().requests).toHaveLength(1);
    expect((await listFailureReasons(harness)).sort()).toEqual([
      'The app removed the webhook URL.',
      'The app replaced the webhook URL.',
    ]);
  });
});

describe('sendWebhook (URL health)', () => {
  it('disables a URL after a response with 410 and enables it after a successful test', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    getServer().respondWith({ status: 410 });
    await announce(harness);
    await announce(harness, buildRenewal(startDate + minuteMs), startDate + dayMs);
    expect(getServer().requests).toHaveLength(1);
    expect((await listFailureReasons(harness)).sort()).toEqual([
      'The server responded with 410.',
      'The webhook URL is disabled: the server responded with 410.',
    ]);
    getServer().respondWith({ status: 200 });
    await sendTestWebhook(harness.service, harness.keys.appName);
    await harness.workUntil(harness.now);
    expect(listBodies()[1]).toEqual({ type: 'test', password: harness.keys.secretKey });
    await replayDeadDeliveries(harness);
    await harness.workUntil(harness.now);
    expect(getServer().requests).toHaveLength(4);
  });

  it.each([
    ['times out', { status: 200, hangs: true }],
    ['succeeds', { status: 200 }],
  ])('keeps a URL disabled after a 410 if a concurrent attempt %s', async (_result, concurrentResponse) => {
    let goneAttempt = Promise.resolve();
    const around: WrapCall = async (name, call) => {
      const result = await call();
      // The result of the other attempt arrives after the 410 has been processed.
      if (name === 'post' && !JSON.stringify(result).includes(':410')) await goneAttempt;
      return result;
    };
    const harness = await createWebhookHarness({ urls: [getServer().url], around });
    const records = [
      await harness.recordUpdate(purchaseId, buildPurchase('ann')),
      await harness.recordUpdate(purchaseId, buildRenewal(startDate)),
    ];
    await harness.fanOut(records);
    const takeMessages = () => harness.queue.splice(0).map(({ message }) => message);
    getServer().respondWith({ status: 200, hangs: true });
    harness.postTimeoutMs = 300;
    await Promise.all(takeMessages().map(async (message) => await sendWebhook(harness.service, message)));
    harness.now += minuteMs;
    const [first, second] = takeMessages();
    if (!first || !second) throw new Error('Both deliveries must be retried.');
    getServer().respondWith(({ headers }) =>
      headers['webhook-id'] === first.deliveryId ? { status: 410 } : concurrentResponse,
    );
    harness.postTimeoutMs = 2 * secondMs;
    const concurrentAttempt = sendWebhook(harness.service, second);
    goneAttempt = sendWebhook(harness.service, first);
    await Promise.all([goneAttempt, concurrentAttempt]);
    getServer().requests.length = 0;
    await announce(harness, { ...buildPurchase('bob'), now: harness.now }, harness.now + dayMs);
    expect(getServer().requests).toHaveLength(0);
    expect(await listFailureReasons(harness)).toContain('The webhook URL is disabled: the server responded with 410.');
  });

  it('postpones other deliveries during the backoff without an attempt', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    getServer().respondWith({ status: 200, hangs: true });
    harness.postTimeoutMs = 300;
    await announce(harness);
    for (const otherId of Array.from({ length: 5 }, (_, index) => `store_a:other-${index}`)) {
      const observation = createObservation({ purchaseId: otherId, transactionId: otherId });
      await harness.fanOut([await harness.recordUpdate(otherId, buildPurchase('ann', { observation }))]);
    }
    await harness.workUntil(startDate + secondMs);
    expect(getServer().requests).toHaveLength(1);
    const deliveries = await listDeliveries(harness.service, harness.keys.appName, 'pending');
    expect(deliveries.map(({ failedAttempts }) => failedAttempts).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    getServer().respondWith({ status: 200 });
    harness.postTimeoutMs = 30 * secondMs;
    await harness.workUntil(startDate + 10 * minuteMs);
    expect(new Set(listWebhookIds()).size).toBe(6);
    expect(await listDeliveries(harness.service, harness.keys.appName, undefined)).toEqual([]);
  });

  it('attempts a delivery that is older than all retries during the backoff, and retries it', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    harness.now += 7 * dayMs;
    await saveUrlHealth(harness.service, appName, getServer().url, buildBackoff(harness));
    getServer().respondWith({ status: 503 });
    await harness.workUntil(harness.now + secondMs);
    expect(getServer().requests).toHaveLength(1);
    expect(await listFailureReasons(harness)).toEqual([]);
    getServer().respondWith({ status: 200 });
    await harness.workUntil(harness.now + minuteMs);
    expect(new Set(listWebhookIds()).size).toBe(1);
    expect(await listDeliveries(harness.service, appName, undefined)).toEqual([]);
  });
});
