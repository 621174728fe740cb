import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { recordPurchase } from '../../lib/purchases/record-purchase.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { repeatWebhook } from '../../lib/webhooks/contract.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startWorkQueues } from '../../testing/work-queues.ts';
import { findEvents } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);
const server = startBeforeAll(startApplicationServer);
let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await service.createApp(['store_b']);
  await setWebhookUrl(keys);
});
beforeEach(() => {
  server.requests.length = 0;
});

const setWebhookUrl = async ({ appName }: IssuedApiKeys) => {
  const settings = { urls: [server.url], sandboxUrls: [], includesPassword: true };
  await saveWebhook(getService(), appName, settings, { newSecret: false });
};

/** Calls the endpoint and delivers the webhooks. */
const repeat = async (reqId: string) => {
  const response = await callWithSecretKey(repeatWebhook, keys, { body: { reqId } });
  await queues.drain();
  return response;
};

const listWebhooks = () => server.requests.map(({ body }) => JSON.parse(body));
const notFound = { status: 404, body: { code: 'ResourceNotFound' } };
const invalidPayload = { status: 400, body: { code: 'InvalidPayload' } };

/** Buys and validates a subscription in a request with this id. Returns the purchase id. */
async function validatePurchase(applicationUsername: string, reqId: string, appKeys = keys): Promise<string> {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  const headers = { 'x-request-id': reqId };
  expect((await callWithPublicKey(validateReceipt, appKeys, { headers, body: validate })).body.ok).toBe(true);
  return `store_b:${id}`;
}

describe('POST /v3/notifier/app-webhooks', () => {
  it('delivers the current purchases of a past request with a new notification id', async () => {
    const purchaseId = await validatePurchase('ann', 'request-of-ann');
    expect((await repeat('request-of-ann')).body).toEqual({ ok: true });
    const [webhook] = listWebhooks();
    expect(webhook).toMatchObject({
      type: 'purchases.updated',
      password: keys.secretKey,
      notification: { reason: 'REPEATED', id: expect.any(String), productId: 'store_b:premium', purchaseId },
      applicationUsername: 'ann',
      purchases: { 'store_b:premium': { purchaseId } },
    });
    await repeat('request-of-ann');
    expect(listWebhooks()[1].notification.id).not.toBe(webhook.notification.id);
  });

  it('names the event of the call in x-request-id', async () => {
    await validatePurchase('gil', 'request-of-gil');
    const headers = { 'x-request-id': 'repeat-of-gil' };
    await callWithSecretKey(repeatWebhook, keys, { headers, body: { reqId: 'request-of-gil' } });
    await queues.drain();
    const [{ eventId }] = await findEvents(keys, 'repeat-of-gil');
    expect(server.requests[0]?.headers['x-request-id']).toBe(eventId);
  });

  it('accepts the event id of a request and the id of a notification', async () => {
    const purchaseId = await validatePurchase('bob', 'request-of-bob');
    const [{ eventId }] = await findEvents(keys, 'request-of-bob');
    expect((await repeat(eventId)).status).toBe(200);
    const [{ notification }] = listWebhooks();
    expect((await repeat(notification.id)).status).toBe(200);
    const { transactionId } = notification;
    expect(listWebhooks()[1]).toMatchObject({
      applicationUsername: 'bob',
      notification: { purchaseId, transactionId, reason: 'REPEATED' },
    });
    const contexts = (await findEvents(keys, 'bob')).map(({ context }: { context: object }) => context);
    expect(contexts).toContainEqual(expect.objectContaining({ eventType: 'webhook.app.called' }));
  });

  it('accepts the singular path', async () => {
    await validatePurchase('cher', 'request-of-cher');
    const path = '/v3/notifier/app-webhook';
    const response = await callWithSecretKey(repeatWebhook, keys, { path, body: { reqId: 'request-of-cher' } });
    expect(response.body).toEqual({ ok: true });
    await queues.drain();
    expect(listWebhooks()).toMatchObject([{ applicationUsername: 'cher' }]);
  });

  it('rejects an unknown request, a request without a customer and an app without a webhook URL', async () => {
    expect(await repeat('unknown-request')).toMatchObject(notFound);
    const headers = { 'x-request-id': 'request-without-customer' };
    await callWithSecretKey(getPurchase, keys, { headers, params: { purchaseId: 'store_b:none' } });
    expect(await repeat('request-without-customer')).toMatchObject(invalidPayload);
    expect(await repeat('')).toMatchObject(invalidPayload);
    const appWithoutUrl = await service.createApp(['store_b']);
    await validatePurchase('dora', 'request-of-dora', appWithoutUrl);
    const body = { reqId: 'request-of-dora' };
    expect(await callWithSecretKey(repeatWebhook, appWithoutUrl, { body })).toMatchObject(invalidPayload);
    await queues.drain();
    expect(server.requests).toEqual([]);
  });

  it("rejects another app's request", async () => {
    await validatePurchase('eve', 'request-of-eve');
    const otherApp = await service.createApp([]);
    await setWebhookUrl(otherApp);
    expect(await callWithSecretKey(repeatWebhook, otherApp, { body: { reqId: 'request-of-eve' } })).toMatchObject(
      notFound,
    );
  });

  it.each([
    ['a store notification', processStoreNotification],
    ['a refresh', refresh],
  ])('delivers %s to every current owner of the purchase', async (_description, update) => {
    const users = ['fay', 'gus', 'hal'].map(createUniqueName) as [string, string, string];
    const purchaseId = await validatePurchase(users[0], createUniqueName('request'));
    await claimPurchase(purchaseId, users[1]);
    const eventId = await update(purchaseId);
    await claimPurchase(purchaseId, users[2]);
    expect((await repeat(eventId)).status).toBe(200);
    const webhooks = listWebhooks();
    expect(webhooks.map(({ applicationUsername }) => applicationUsername).sort()).toEqual(users);
    const notification = expect.objectContaining({ reason: 'REPEATED', purchaseId, productId: 'store_b:premium' });
    expect(webhooks.map((webhook) => webhook.notification)).toEqual(users.map(() => notification));
  });

  it('delivers a store notification to a customer who claimed the purchase after it', async () => {
    const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername: 'ida' };
    const { id } = await service.callControl('/purchases', order);
    const eventId = await processStoreNotification(`store_b:${id}`);
    expect(await repeat(eventId)).toMatchObject(invalidPayload);
    await claimPurchase(`store_b:${id}`, 'ida');
    expect((await repeat(eventId)).status).toBe(200);
    expect(listWebhooks()).toMatchObject([
      { applicationUsername: 'ida', notification: { purchaseId: `store_b:${id}` } },
    ]);
  });
});

async function claimPurchase(purchaseId: string, username: string): Promise<void> {
  await recordPurchase(getService(), keys.appName, purchaseId, {
    trigger: 'validation',
    claim: { username, source: 'validation' },
    strategy: 'all',
    now: Date.now(),
  });
}

/** Processes a notification of the purchase. Returns its event id. */
async function processStoreNotification(purchaseId: string): Promise<string> {
  const [eventId, receivedAt] = [createUniqueName('event'), Date.now()];
  const payload = { kind: 'subscription', token: purchaseId.replace('store_b:', '') };
  const notification = { key: eventId, type: 'SUBSCRIPTION_RENEWED', occurredAt: receivedAt, payload };
  const queued = { appName: keys.appName, platform: 'store_b', eventId, receivedAt, attempt: 0, notification } as const;
  await processNotification(getService(), queued);
  return eventId;
}

/** Refreshes the purchase. Returns the id of the event. */
async function refresh(purchaseId: string): Promise<string> {
  await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
  const events: { eventId: string; context: { eventType: string } }[] = await findEvents(keys, purchaseId);
  const event = events.find(({ context }) => context.eventType === 'receipt.refreshed');
  if (!event) throw new Error(`No refresh event of ${purchaseId}: ${JSON.stringify(events)}`);
  return event.eventId;
}
