import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { searchEvents } from '../../lib/api/events.ts';
import { repeatWebhook } from '../../lib/api/notifier.ts';
import { getPurchase } from '../../lib/api/purchases.ts';
import { validateReceipt } from '../../lib/api/validation.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { setWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
let server: ApplicationServer;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  queues = await startWorkQueues();
  server = await startApplicationServer();
  keys = await service.createApp(['store_b']);
  await taking(keys);
});
afterAll(async () => {
  await server.close();
  await queues.close();
  await service.close();
});
beforeEach(() => {
  server.requests.length = 0;
});

const taking = async ({ appName }: IssuedApiKeys) =>
  await setWebhook(
    appName,
    { urls: [server.url], sandboxUrls: [], includesPassword: true },
    { newSecret: false, deps: deps() },
  );
const secret = () => buildBasicAuth(keys.appName, keys.secretKey);
const repeat = async (reqId: string) => {
  const response = await callEndpoint(repeatWebhook, { headers: secret(), body: { reqId } });
  await queues.drain();
  return response;
};
const bodies = () => server.requests.map(({ body }) => JSON.parse(body));
const eventsWith = async (tag: string) =>
  (await callEndpoint(searchEvents, { headers: secret(), params: { tag } })).body.rows.map(
    ({ eventId, context }: { eventId: string; context: object }) => ({ eventId, ...context }),
  );

/** A validated subscription, and the id that the client gave its request. */
async function bought(applicationUsername: string, reqId: string, { appName, publicKey } = keys): Promise<string> {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  const headers = { ...buildBasicAuth(appName, publicKey), 'x-request-id': reqId };
  expect((await callEndpoint(validateReceipt, { headers, body: validate })).body.ok).toBe(true);
  return `store_b:${id}`;
}

it('the result of a past request is delivered again, under a fresh id and with what is true now', async () => {
  const purchaseId = await bought('ann', 'request-of-ann');
  expect((await repeat('request-of-ann')).body).toEqual({ ok: true });
  const [body] = bodies();
  expect(body).toMatchObject({
    type: 'purchases.updated',
    password: keys.secretKey,
    notification: { reason: 'REPEATED', id: expect.any(String), productId: 'store_b:premium', purchaseId },
    applicationUsername: 'ann',
    purchases: { 'store_b:premium': { purchaseId } },
  });
  await repeat('request-of-ann');
  expect(bodies()[1].notification.id).not.toBe(body.notification.id);
});

it('a past request is also found by the id of its event, and a notification by its own', async () => {
  const purchaseId = await bought('bob', 'request-of-bob');
  const [{ eventId }] = await eventsWith('request-of-bob');
  expect((await repeat(eventId)).status).toBe(200);
  const [{ notification }] = bodies();
  expect((await repeat(notification.id)).status).toBe(200);
  const { transactionId } = notification;
  expect(bodies()[1]).toMatchObject({
    applicationUsername: 'bob',
    notification: { purchaseId, transactionId, reason: 'REPEATED' },
  });
  expect(await eventsWith('bob')).toContainEqual(expect.objectContaining({ eventType: 'webhook.app.called' }));
});

it('the singular path is answered as well', async () => {
  await bought('cher', 'request-of-cher');
  const path = '/v3/notifier/app-webhook';
  const response = await callEndpoint(repeatWebhook, { path, headers: secret(), body: { reqId: 'request-of-cher' } });
  expect(response.body).toEqual({ ok: true });
  await queues.drain();
  expect(bodies()).toMatchObject([{ applicationUsername: 'cher' }]);
});

it('what cannot be repeated is refused: an unknown request, one without a user, an application without a URL', async () => {
  expect(await repeat('nobody-knows')).toMatchObject({ status: 404, body: { code: 'ResourceNotFound' } });
  const headers = { ...secret(), 'x-request-id': 'request-without-user' };
  await callEndpoint(getPurchase, { headers, params: { purchaseId: 'store_b:none' } });
  expect(await repeat('request-without-user')).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  expect(await repeat('')).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  const silent = await service.createApp(['store_b']);
  await bought('dora', 'request-of-dora', silent);
  const asked = { headers: buildBasicAuth(silent.appName, silent.secretKey), body: { reqId: 'request-of-dora' } };
  expect(await callEndpoint(repeatWebhook, asked)).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  await queues.drain();
  expect(server.requests).toEqual([]);
});

it('another application cannot repeat it', async () => {
  await bought('eve', 'request-of-eve');
  const other = await service.createApp([]);
  await taking(other);
  const headers = buildBasicAuth(other.appName, other.secretKey);
  expect((await callEndpoint(repeatWebhook, { headers, body: { reqId: 'request-of-eve' } })).status).toBe(404);
});

describe('what happened at a store', () => {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription' };

  it.each([
    ['told of it', storeTells],
    ['was asked', storeIsAsked],
  ])('is told again to everybody who owns the purchase now when the store %s', async (_how, happens) => {
    const users = [createUniqueName('fay'), createUniqueName('gus'), createUniqueName('hal')];
    const purchaseId = await bought(users[0] ?? '', 'request-of-fay');
    await claims(purchaseId, users[1] ?? '');
    const eventId = await happens(purchaseId);
    await claims(purchaseId, users[2] ?? '');
    expect((await repeat(eventId)).status).toBe(200);
    expect(
      bodies()
        .map(({ applicationUsername }) => applicationUsername)
        .sort(),
    ).toEqual(users);
    const notification = expect.objectContaining({ reason: 'REPEATED', purchaseId, productId: 'store_b:premium' });
    expect(bodies().map((body) => body.notification)).toEqual(users.map(() => notification));
  });

  it('is told again to a user who came after it, when there was none', async () => {
    const { id } = await service.callControl('/purchases', { ...order, applicationUsername: 'ida' });
    const eventId = await storeTells(`store_b:${id}`);
    expect(await repeat(eventId)).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    await claims(`store_b:${id}`, 'ida');
    expect((await repeat(eventId)).status).toBe(200);
    expect(bodies()).toMatchObject([{ applicationUsername: 'ida', notification: { purchaseId: `store_b:${id}` } }]);
  });
});

/** Another user claims the purchase. */
async function claims(purchaseId: string, username: string): Promise<void> {
  const claim = { username, source: 'validation' } as const;
  await deps().recordPurchase(keys.appName, purchaseId, {
    trigger: 'validation',
    claim,
    strategy: 'all',
    now: Date.now(),
  });
}

/** The store's notification of the purchase is taken in; returns the id of its event. */
async function storeTells(purchaseId: string): Promise<string> {
  const [eventId, at] = [createUniqueName('event'), Date.now()];
  const payload = { kind: 'subscription', token: purchaseId.replace('store_b:', '') };
  const notification = { key: eventId, type: 'SUBSCRIPTION_RENEWED', occurredAt: at, payload };
  const incoming = {
    appName: keys.appName,
    platform: 'store_b',
    eventId,
    receivedAt: at,
    attempt: 0,
    notification,
  } as const;
  await processNotification(incoming, deps());
  return eventId;
}

/** The purchase is refreshed; returns the id of the event. */
async function storeIsAsked(purchaseId: string): Promise<string> {
  await refreshPurchase({ appName: keys.appName, purchaseId }, deps());
  const events = await eventsWith(purchaseId);
  return events.find(({ eventType }: { eventType: string }) => eventType === 'receipt.refreshed').eventId;
}
