import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Forward } from '../../../lib/forwards/forward.ts';
import type { StoreMessage } from '../../../lib/forwards/forward-message.ts';
import { saveForwards } from '../../../lib/forwards/manage-forwards.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../lib/foundation/time.ts';
import { enqueueReplay } from '../../../lib/webhooks/enqueue-replays.ts';
import { startDate } from '../../../testing/given.ts';
import {
  createWebhookHarness,
  listDeliveries,
  replayDeadDeliveries,
  type WebhookHarness,
} from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from '../webhooks/application-server-fixture.ts';
import { buildPurchase, purchaseId } from '../webhooks/purchase-updates.ts';

const getServer = useApplicationServer();

async function givenForwards(harness: WebhookHarness, forwards: readonly Forward[]): Promise<void> {
  await saveForwards(harness.service, harness.keys.appName, forwards);
}

let keys = 0;

/** Puts a store notification on the queue of forwards, and runs the workers. */
async function forward(harness: WebhookHarness, fields: Partial<StoreMessage> = {}): Promise<void> {
  const message = {
    appName: harness.keys.appName,
    platform: 'store_a',
    key: `key-${++keys}`,
    order: 'purchase-1',
    occurredAt: harness.now,
    receivedAt: harness.now,
    content: { body: '{"signedPayload":  "a.b.c"}', headers: { 'content-type': 'application/json; charset=utf-8' } },
    ...fields,
  } as const;
  await harness.service.forwardQueue.send([message]);
  await harness.workUntil(harness.now);
}

/** Makes one path of the server fail. */
const failAt = (path: string, failure: { status: number; hangs?: boolean }): void =>
  getServer().respondWith((request) => (request.path === path ? failure : { status: 200 }));
const withBody = (body: string): StoreMessage['content'] => ({ body, headers: { 'content-type': 'text/plain' } });
const listBodies = (path: string) =>
  getServer()
    .requests.filter((request) => request.path === path)
    .map(({ body }) => body);

describe('sendForward', () => {
  it('posts the exact body with its content type, signed, without the Authorization of the store', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    const body = '{"message":{"data":"e30=" } }\n';
    const headers = { 'content-type': 'application/json; charset=utf-8', authorization: 'Bearer secret' };
    await forward(harness, { platform: 'store_b', content: { body, headers } });
    const [request] = getServer().requests;
    expect(request).toMatchObject({ path: '/forward', body });
    expect(request?.headers['content-type']).toBe(headers['content-type']);
    expect(request?.headers.authorization).toBeUndefined();
    const signed = request?.headers as Record<string, string>;
    expect(() => new Webhook(harness.signingSecret).verify(body, signed)).not.toThrow();
  });

  it('sends the Authorization of the store to a URL that requests it', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward`, includesAuthorization: true }]);
    await forward(harness, { content: { body: '{}', headers: { authorization: 'Bearer store' } } });
    expect(getServer().requests[0]?.headers.authorization).toBe('Bearer store');
  });

  it('selects the URLs by platform, and sends a repeated message once', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await givenForwards(harness, [
      { url: `${getServer().url}/apple`, platforms: ['store_a'] },
      { url: `${getServer().url}/all` },
    ]);
    await forward(harness, { platform: 'store_b', key: 'google' });
    await forward(harness, { key: 'apple' });
    await forward(harness, { key: 'apple' });
    expect(
      getServer()
        .requests.map(({ path }) => path)
        .toSorted(),
    ).toEqual(['/all', '/all', '/apple']);
  });

  it('does not delay later messages of a purchase if a message is received again while it waits', async () => {
    const harness = await createWebhookHarness({ urls: [] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    failAt('/forward', { status: 500 });
    const repeated = { key: 'repeated', content: withBody('message 0') };
    await forward(harness, repeated);
    harness.now += secondMs;
    await forward(harness, repeated);
    await forward(harness, { content: withBody('message 1') });
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await harness.workUntil(startDate + minuteMs);
    expect(listBodies('/forward')).toEqual(['message 0', 'message 1']);
  });

  it('delivers all messages in order after a server responded with 500 for three days', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/webhook`] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    failAt('/forward', { status: 500 });
    for (const [index, delayMs] of [0, minuteMs, hourMs, dayMs, dayMs].entries()) {
      await harness.workUntil(harness.now + delayMs);
      await forward(harness, { content: withBody(`message ${index}`) });
    }
    await forward(harness, { order: 'other', content: withBody('other') });
    await harness.workUntil(startDate + 3 * dayMs);
    // Webhooks of the app are not later.
    const sentAt = harness.now;
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    await harness.workUntil(harness.now);
    expect(listBodies('/webhook')).toHaveLength(1);
    expect(harness.now - sentAt).toBeLessThan(secondMs);
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    await harness.workUntil(startDate + 6 * dayMs);
    const bodies = listBodies('/forward');
    expect([...new Set(bodies.filter((body) => body.startsWith('message')))]).toEqual(
      [0, 1, 2, 3, 4].map((index) => `message ${index}`),
    );
    expect(bodies).toContain('other');
    expect(await listDeliveries(harness.service, harness.keys.appName, undefined)).toEqual([]);
  });

  it('does not delay webhooks while a server hangs, and ends after three days with a replay', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/webhook`] });
    await givenForwards(harness, [{ url: `${getServer().url}/hang` }]);
    failAt('/hang', { status: 200, hangs: true });
    harness.postTimeoutMs = 100;
    for (let index = 0; index < 3; index++)
      await forward(harness, { order: `purchase-${index}`, content: withBody(`message ${index}`) });
    // Further messages wait for the backoff of the URL, without a request.
    expect(listBodies('/hang').length).toBeLessThan(3);
    const startedAt = harness.now;
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    await harness.workUntil(harness.now);
    expect(listBodies('/webhook')).toHaveLength(1);
    expect(harness.now - startedAt).toBeLessThan(secondMs);
    await harness.workUntil(startDate + 5 * dayMs);
    const dead = await listDeliveries(harness.service, harness.keys.appName, 'dead');
    expect(dead.map(({ type }) => type)).toEqual(Array.from({ length: 3 }, () => 'forward'));
    getServer().respondWith({ status: 200 });
    getServer().requests.length = 0;
    for (const { deliveryId } of dead) await enqueueReplay(harness.service, harness.keys.appName, deliveryId);
    await harness.workUntil(harness.now + minuteMs);
    expect(listBodies('/hang').toSorted()).toEqual([0, 1, 2].map((index) => `message ${index}`));
  });

  it('sends replayed messages of a purchase in their order, even if the first one fails again', async () => {
    const harness = await createWebhookHarness({ urls: [] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    failAt('/forward', { status: 500 });
    for (const index of [0, 1, 2]) {
      await forward(harness, { content: withBody(`message ${index}`) });
      await harness.workUntil(harness.now + minuteMs);
    }
    await harness.workUntil(startDate + 7 * dayMs);
    expect(await listDeliveries(harness.service, harness.keys.appName, 'dead')).toHaveLength(3);
    getServer().requests.length = 0;
    getServer().respondWith(() => ({ status: getServer().requests.length < 3 ? 500 : 200 }));
    expect(await replayDeadDeliveries(harness)).toBe(3);
    await harness.workUntil(harness.now + hourMs);
    const bodies = listBodies('/forward');
    expect(bodies.slice(0, 3)).toEqual(['message 0', 'message 0', 'message 0']);
    expect([...new Set(bodies)]).toEqual(['message 0', 'message 1', 'message 2']);
  });

  it('stores the message encrypted, because it contains a credential at most stores', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    failAt('/forward', { status: 500 });
    await forward(harness, { content: withBody('purchase-token-of-google') });
    const [delivery] = await listDeliveries(harness.service, harness.keys.appName, 'pending');
    expect(delivery).toMatchObject({ type: 'forward', failedAttempts: 1 });
    expect(JSON.stringify(delivery)).not.toContain('purchase-token-of-google');
  });

  it('does not send to a URL that the app has removed', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await givenForwards(harness, [{ url: `${getServer().url}/forward` }]);
    failAt('/forward', { status: 500 });
    await forward(harness);
    await givenForwards(harness, []);
    await harness.workUntil(harness.now + hourMs);
    expect(await listDeliveries(harness.service, harness.keys.appName, 'dead')).toHaveLength(1);
  });
});

describe('setForwards', () => {
  it.each([
    ['a private address', [{ url: 'https://10.0.0.1/x' }]],
    ['a URL that is not https', [{ url: 'ftp://example.com/a' }]],
    ['credentials in the URL', [{ url: 'https://user:pass@example.com/' }]],
    ['six URLs', Array.from({ length: 6 }, (_, index) => ({ url: `https://example.com/${index}` }))],
    ['a URL twice', [{ url: 'https://example.com/' }, { url: 'https://example.com/' }]],
    ['an unknown store', [{ url: 'https://example.com/', platforms: ['store_x'] }]],
  ])('rejects %s', async (_case, forwards) => {
    const harness = await createWebhookHarness({ urls: [] });
    const input = saveForwards({ ...harness.service, emulator: { roots: [] } }, harness.keys.appName, forwards);
    await expect(input).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});
