import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs, minuteMs } from '../../lib/foundation/time.ts';
import {
  getDelivery,
  getWebhookStats,
  listDeliveries,
  replayDeliveries,
  replayDelivery,
  testWebhook,
} from '../../lib/webhooks/contract.ts';
import { buildDelivery } from '../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, saveUrlHealth } from '../../lib/webhooks/delivery-table.ts';
import { enqueueDeliveries } from '../../lib/webhooks/fan-out.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { startWorkQueues } from '../../testing/work-queues.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);
const server = startBeforeAll(startApplicationServer);
let keys: IssuedApiKeys;
beforeEach(async () => {
  server.respondWith({ status: 200 });
  server.requests.length = 0;
  keys = await createAppWithWebhook();
});

async function createAppWithWebhook(): Promise<IssuedApiKeys> {
  const created = await service.createApp([]);
  const settings = { urls: [`${server.url}/hook?token=secret`], sandboxUrls: [], includesPassword: false };
  await saveWebhook(getService(), created.appName, settings, { newSecret: false });
  return created;
}

/** Creates a delivery for a customer and attempts it once. Returns its id. */
async function deliver(username: string, { createdAt = getService().now() } = {}): Promise<string> {
  const notification = { id: randomUUID(), reason: 'RENEWED', date: createdAt, purchaseId: 'store_a:1' } as const;
  const url = `${server.url}/hook?token=secret`;
  const delivery = buildDelivery({
    appName: keys.appName,
    type: 'purchases.updated',
    url,
    username,
    notification,
    createdAt,
  });
  await createDeliveryIfAbsent(getService(), delivery);
  await enqueueDeliveries(getService(), [delivery]);
  await queues.drain();
  return delivery.deliveryId;
}

const list = async (query: Record<string, string> = {}, appKeys = keys) =>
  (await callWithSecretKey(listDeliveries, appKeys, { query })).body;
const listIds = async (query: Record<string, string> = {}) => listRowIds(await list(query));
const listRowIds = ({ rows }: { rows: { deliveryId: string }[] }) => rows.map(({ deliveryId }) => deliveryId);
const fetchDelivery = async (id: string) => (await callWithSecretKey(getDelivery, keys, { params: { id } })).body;

/** Counts the requests of a delivery. Retries of other tests can arrive at any time. */
const countRequests = (id: string) => server.requests.filter(({ headers }) => headers['webhook-id'] === id).length;
const iso = (time: number) => new Date(time).toISOString();

describe('GET /v3/webhooks/deliveries', () => {
  it('lists delivered deliveries, newest first, without credentials of the URL', async () => {
    const first = await deliver('ann');
    const second = await deliver('bob');
    const { rows, nextCursor } = await list();
    expect(listRowIds({ rows })).toEqual([second, first]);
    expect(nextCursor).toBeUndefined();
    expect(rows[1]).toMatchObject({
      state: 'delivered',
      applicationUsername: 'ann',
      failedAttempts: 0,
      lastHttpStatus: 200,
      url: `${server.url}/hook`,
      lastAttemptAt: expect.any(String),
      notification: { reason: 'RENEWED', purchaseId: 'store_a:1' },
    });
    expect(JSON.stringify(rows)).not.toContain('token=secret');
  });

  it('selects by state, customer, URL and date of creation', async () => {
    const now = getService().now();
    const early = await deliver('ann', { createdAt: now - 10 * minuteMs });
    server.respondWith({ status: 500 });
    const failed = await deliver('ann');
    server.respondWith({ status: 200 });
    const ofBob = await deliver('bob');
    expect(await listIds({ state: 'pending' })).toEqual([failed]);
    expect(await listIds({ state: 'delivered' })).toEqual([ofBob, early]);
    expect(await listIds({ state: 'dead' })).toEqual([]);
    expect(await listIds({ applicationUsername: 'ann' })).toEqual([failed, early]);
    expect(await listIds({ applicationUsername: 'ann', state: 'delivered' })).toEqual([early]);
    expect(await listIds({ url: `${server.url}/hook` })).toHaveLength(3);
    expect(await listIds({ url: 'https://example.com' })).toEqual([]);
    expect(await listIds({ enddate: iso(now - 5 * minuteMs) })).toEqual([early]);
    expect(await listIds({ startdate: iso(now - 5 * minuteMs) })).toEqual([ofBob, failed]);
    expect(await listIds({ applicationUsername: 'ann', enddate: iso(now - 5 * minuteMs) })).toEqual([early]);
  });

  it.each([{}, { applicationUsername: 'ann' }])('returns every delivery once by cursor: %j', async (query) => {
    const ids: string[] = [];
    for (let number = 0; number < 7; number++) ids.unshift(await deliver('ann'));
    const pages: string[][] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await list({ ...query, limit: '3', cursor });
      pages.push(listRowIds(page));
      cursor = page.nextCursor;
    }
    expect(pages.flat()).toEqual(ids);
    expect(Math.max(...pages.map(({ length }) => length))).toBe(3);
  });

  it('lists a customer by the last attempt, so a retried delivery is listed once', async () => {
    server.respondWith({ status: 500 });
    const retried = await deliver('ann');
    server.respondWith({ status: 200 });
    await callWithSecretKey(replayDelivery, keys, { params: { id: retried } });
    await queues.drain();
    expect(await listIds({ applicationUsername: 'ann' })).toEqual([retried]);
    expect(await fetchDelivery(retried)).toMatchObject({ attempts: [{ ok: true }, { ok: false }] });
  });

  it.each([{ state: 'unknown' }, { cursor: 'not a cursor' }, { cursor: Buffer.from('no-date').toString('base64url') }])(
    'rejects %j',
    async (query) => {
      const response = await callWithSecretKey(listDeliveries, keys, { query });
      expect(response).toMatchObject({ status: 400, body: { ok: false, code: 'InvalidPayload' } });
    },
  );

  it('does not list deliveries of a different app, also with a cursor from it', async () => {
    for (let number = 0; number < 3; number++) await deliver('ann');
    const { nextCursor } = await list({ limit: '1' });
    const other = await createAppWithWebhook();
    for (const query of [{}, { cursor: nextCursor }, { applicationUsername: 'ann' }, { state: 'delivered' }])
      expect(await list(query, other)).toEqual({ rows: [] });
  });
});

describe('GET /v3/webhooks/stats', () => {
  it('counts the deliveries, failures and delivery times of each URL in a period', async () => {
    const now = getService().now();
    await deliver('old', { createdAt: now - 10 * dayMs });
    await deliver('slow', { createdAt: now - 10 * minuteMs });
    await deliver('fast');
    server.respondWith({ status: 500 });
    const failed = await deliver('ann');
    const read = async (query = {}) => (await callWithSecretKey(getWebhookStats, keys, { query })).body;
    const { rows, isComplete } = await read();
    expect(isComplete).toBe(true);
    expect(rows).toEqual([
      {
        url: `${server.url}/hook`,
        numDeliveries: 3,
        numFailed: 1,
        failedAttempts: expect.any(Number),
        medianMs: expect.any(Number),
        percentile95Ms: expect.any(Number),
        lastFailure: { deliveryId: failed, date: expect.any(String), message: 'The server responded with 500.' },
      },
    ]);
    expect(rows[0].failedAttempts).toBeGreaterThanOrEqual(1);
    expect(rows[0].medianMs).toBeLessThan(10 * minuteMs);
    expect(rows[0].percentile95Ms).toBeGreaterThanOrEqual(10 * minuteMs);
    const before = { startdate: iso(now - 20 * dayMs), enddate: iso(now - 5 * dayMs) };
    expect((await read(before)).rows).toMatchObject([{ numDeliveries: 1, numFailed: 0, failedAttempts: 0 }]);
  });
});

describe('GET /v3/webhooks/deliveries/:id', () => {
  it('returns the attempts with status, duration and the start of the response', async () => {
    server.respondWith({ status: 503, body: 'maintenance until noon' });
    const id = await deliver('ann');
    const { deliveryId, state, attempts } = await fetchDelivery(id);
    expect({ deliveryId, state }).toEqual({ deliveryId: id, state: 'pending' });
    expect(attempts).toEqual([
      {
        eventId: expect.stringContaining(id),
        date: expect.any(String),
        durationMs: expect.any(Number),
        ok: false,
        status: 503,
        response: 'maintenance until noon',
        error: 'The server responded with 503.',
        request: {
          headers: expect.objectContaining({ 'webhook-id': id, 'content-type': 'application/json' }),
          body: expect.objectContaining({
            type: 'purchases.updated',
            applicationUsername: 'ann',
            notification: expect.objectContaining({ reason: 'RENEWED', purchaseId: 'store_a:1' }),
          }),
        },
      },
    ]);
  });

  it('rejects an unknown delivery and a delivery of a different app', async () => {
    const id = await deliver('ann');
    const other = await createAppWithWebhook();
    for (const [appKeys, deliveryId] of [
      [keys, 'unknown'],
      [other, id],
    ] as const) {
      const options = { params: { id: deliveryId } };
      const notFound = { status: 404, body: { ok: false, code: 'ResourceNotFound' } };
      expect(await callWithSecretKey(getDelivery, appKeys, options)).toMatchObject(notFound);
      expect(await callWithSecretKey(replayDelivery, appKeys, options)).toMatchObject(notFound);
    }
  });
});

describe('POST /v3/webhooks/deliveries/:id/replay', () => {
  it('sends a delivered webhook again with the same id', async () => {
    const id = await deliver('ann');
    const { status, body } = await callWithSecretKey(replayDelivery, keys, { params: { id } });
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, delivery: { deliveryId: id } } });
    await queues.drain();
    expect(countRequests(id)).toBe(2);
    expect((await fetchDelivery(id)).state).toBe('delivered');
  });

  it('rejects a delivery that is being sent', async () => {
    const [{ deliveryId }] = (await callWithSecretKey(testWebhook, keys)).body.deliveries;
    const response = await callWithSecretKey(replayDelivery, keys, { params: { id: deliveryId } });
    expect(response).toMatchObject({ status: 409, body: { code: 'Conflict' } });
    await queues.drain();
  });
});

describe('POST /v3/webhooks/replay', () => {
  it('replays the deliveries of a range once, even if it is repeated', async () => {
    const now = getService().now();
    const early = await deliver('ann', { createdAt: now - 10 * minuteMs });
    await deliver('ann');
    server.requests.length = 0;
    const body = { startdate: iso(now - 20 * minuteMs), enddate: iso(now - 5 * minuteMs), state: 'delivered' };
    const replay = async () => (await callWithSecretKey(replayDeliveries, keys, { body })).body;
    expect(await replay()).toEqual({ ok: true, replayed: 1, isComplete: true });
    expect(await replay()).toEqual({ ok: true, replayed: 0, isComplete: true });
    await queues.drain();
    expect(await replay()).toEqual({ ok: true, replayed: 0, isComplete: true });
    expect(countRequests(early)).toBe(1);
  });

  it('replays the deliveries of one URL that wait for a retry, and ends its backoff', async () => {
    const url = `${server.url}/hook?token=secret`;
    const enddate = () => iso(getService().now());
    server.respondWith({ status: 500 });
    const ids = [await deliver('ann', { createdAt: getService().now() - minuteMs }), await deliver('bob')].sort();
    await saveUrlHealth(getService(), keys.appName, url, { backoffUntil: getService().now() + 10 * minuteMs });
    const postponed = await deliver('eve', { createdAt: getService().now() - minuteMs });
    expect(countRequests(postponed)).toBe(0);
    server.respondWith({ status: 200 });
    const replay = async (body: object) =>
      (
        await callWithSecretKey(replayDeliveries, keys, {
          body: { startdate: '2020-01-01', state: 'pending', ...body },
        })
      ).body;
    expect(await replay({ enddate: enddate(), url: 'https://example.com' })).toMatchObject({ replayed: 0 });
    const body = { enddate: iso(getService().now() + 1), url: `${server.url}/hook` };
    await waitFor('the end of the range', () => getService().now() > Date.parse(body.enddate));
    expect(await replay(body)).toEqual({ ok: true, replayed: 3, isComplete: true });
    // They are being sent now.
    expect(await replay({ enddate: enddate() })).toMatchObject({ replayed: 0 });
    await queues.drain();
    expect((await listIds({ state: 'delivered' })).sort()).toEqual([...ids, postponed].sort());
  });

  it('replays dead deliveries by default', async () => {
    server.respondWith({ status: 410 });
    const dead = await deliver('ann', { createdAt: getService().now() - minuteMs });
    expect(await listIds({ state: 'dead' })).toEqual([dead]);
    const body = { startdate: iso(getService().now() - 5 * minuteMs), enddate: iso(getService().now()) };
    expect((await callWithSecretKey(replayDeliveries, keys, { body })).body).toMatchObject({ replayed: 1 });
    await queues.drain();
  });

  it.each([
    {},
    { startdate: '2026-01-01' },
    { startdate: '2026-01-01', enddate: '2026-01-02', state: 'redirected' },
    { startdate: '2026-01-01', enddate: '2999-01-02' },
  ])('rejects %j', async (body) => {
    const response = await callWithSecretKey(replayDeliveries, keys, { body });
    expect(response).toMatchObject({ status: 400, body: { ok: false, code: 'InvalidPayload' } });
  });
});

describe('POST /v3/webhooks/test', () => {
  it('sends a test webhook to each URL', async () => {
    const { body } = await callWithSecretKey(testWebhook, keys);
    expect(body).toMatchObject({ ok: true, deliveries: [{ type: 'test', url: `${server.url}/hook` }] });
    await queues.drain();
    expect(server.requests.map((request) => JSON.parse(request.body))).toContainEqual({ type: 'test' });
    expect((await fetchDelivery(body.deliveries[0].deliveryId)).attempts).toMatchObject([{ ok: true, status: 200 }]);
  });

  it('rejects an app without a webhook URL', async () => {
    const response = await callWithSecretKey(testWebhook, await service.createApp([]));
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });
});
