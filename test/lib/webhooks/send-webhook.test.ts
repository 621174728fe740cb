import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { setVocabulary } from '../../../lib/apps/manage-apps.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/record-purchase.ts';
import {
  listDeliveries,
  replayDeliveries,
  sendTestWebhook,
  setWebhook,
} from '../../../lib/webhooks/manage-webhooks.ts';
import { retryDelaysMs } from '../../../lib/webhooks/retry-schedule.ts';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';
import { createWebhookHarness, type WebhookHarness, type WrapCall } from '../../../testing/webhook-harness.ts';

let server: ApplicationServer;
beforeAll(async () => {
  server = await startApplicationServer();
});
afterAll(async () => await server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.respondWith({ status: 200 });
});

const id = 'store_a:1';
const minute = 60_000;
const bought = (username: string, fields: Partial<RecordPurchaseInput> = {}): RecordPurchaseInput => ({
  trigger: 'notification',
  observation: createObservation(),
  claim: { username, source: 'validation' },
  strategy: 'all',
  now: startDate,
  ...fields,
});
const renewed = (now: number): RecordPurchaseInput => {
  const { purchase } = createObservation({ transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs });
  const observation = { asOf: now, purchase, transactions: [createTransaction(purchase)], userAliases: [] };
  return { trigger: 'notification', observation, strategy: 'all', now };
};
/** Marks of a URL that hung several times in a row. */
const hanging = ({ now }: WebhookHarness) => ({ consecutiveFailures: 7, backoffUntil: now + 20 * minute });
/** Gives the application this one URL. */
async function moveTo({ keys, deps }: WebhookHarness, path: string): Promise<void> {
  const settings = { urls: [`${server.url}${path}`], sandboxUrls: [], includesPassword: true };
  await setWebhook(keys.appName, settings, { newSecret: false, deps });
}
const bodies = () => server.requests.map(({ body }) => JSON.parse(body));
const headerOf = (index: number, name: string) => server.requests[index]?.headers[name];

async function toldOf(
  world: WebhookHarness,
  happened: RecordPurchaseInput = bought('ann'),
  until = world.now,
): Promise<void> {
  await world.fanOut([await world.recordUpdate(id, happened)]);
  await world.workUntil(until);
}

describe('a webhook', () => {
  it('has exactly the documented body and is signed as Standard Webhooks say', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/hooks`] });
    world.now = Date.now();
    await toldOf(world);
    const [sent] = server.requests;
    const headers = sent?.headers as Record<string, string>;
    const body = new Webhook(world.signingSecret).verify(sent?.body ?? '', headers);
    expect(body).toEqual({
      type: 'purchases.updated',
      password: world.keys.secretKey,
      notification: {
        reason: 'PURCHASED',
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        date: '2026-01-01T00:00:00.000Z',
        productId: 'store_a:monthly',
        purchaseId: id,
        transactionId: id,
      },
      applicationUsername: 'ann',
      purchases: {
        'store_a:monthly': expect.objectContaining({ purchaseId: id, expirationDate: '2026-02-01T00:00:00.000Z' }),
      },
    });
    expect(sent).toMatchObject({ path: '/hooks', headers: { 'content-type': 'application/json' } });
    expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  });

  it('can be without the password, and in brand words', async () => {
    const world = await createWebhookHarness({ urls: [server.url], sendsPassword: false });
    await setVocabulary(world.deps.apps, world.keys.appName, 'brand');
    await toldOf(world);
    const [body] = bodies();
    expect(body).not.toHaveProperty('password');
    expect(body.notification).toMatchObject({ purchaseId: 'apple:1', productId: 'apple:monthly' });
    expect(body.purchases['apple:monthly']).toMatchObject({ platform: 'apple', purchaseId: 'apple:1' });
  });

  it('goes to everyone concerned: the users entitled now and those who were until now', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    await toldOf(world, bought('ann', { strategy: 'last' }));
    await toldOf(world, bought('bob', { strategy: 'last', trigger: 'validation', now: startDate + minute }));
    const told = bodies().map(({ applicationUsername, purchases }) => [applicationUsername, Object.keys(purchases)]);
    expect(told.slice(1).sort()).toEqual([
      ['ann', []],
      ['bob', ['store_a:monthly']],
    ]);
    const ids = server.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(3);
  });

  it('is made for each of a thousand users of one purchase', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const { dynamodb, ...record } = await world.recordUpdate(id, bought('ann'));
    const L = Array.from({ length: 1000 }, (_, index) => ({ S: `user-${index}` }));
    const NewImage = { ...dynamodb?.NewImage, entitledUsers: { L } };
    await world.fanOut([{ ...record, dynamodb: { ...dynamodb, NewImage } }]);
    expect(new Set(world.queue.map(({ order }) => order.deliveryId)).size).toBe(1000);
  }, 20_000);

  it('goes to every URL; sandbox purchases go to the sandbox URLs alone', async () => {
    const urls = [`${server.url}/one`, `${server.url}/two`];
    const world = await createWebhookHarness({ urls, sandboxUrls: [`${server.url}/sandbox`] });
    await toldOf(world);
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/one', '/two']);
    const sandbox = createObservation({ purchaseId: 'store_a:9', transactionId: 'store_a:9', sandbox: true });
    await world.fanOut([await world.recordUpdate('store_a:9', bought('ann', { observation: sandbox }))]);
    await world.workUntil(world.now);
    expect(server.requests.slice(2).map(({ path }) => path)).toEqual(['/sandbox']);
  });

  it('that is a test goes to every URL, those for the sandbox included', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/live`], sandboxUrls: [`${server.url}/sandbox`] });
    await sendTestWebhook(world.keys.appName, world.deps);
    await world.workUntil(world.now);
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/live', '/sandbox']);
  });

  it('goes once to a URL that is named twice', async () => {
    const [url, twice] = [server.url, [`${server.url}/sandbox`, `${server.url}/sandbox`]];
    const world = await createWebhookHarness({ urls: [url, `${url}/two`, url], sandboxUrls: twice });
    await world.fanOut([await world.recordUpdate(id, bought('ann'))]);
    expect(world.queue).toHaveLength(2);
    await world.workUntil(world.now);
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/', '/two']);
    expect((await world.deps.apps.find(world.keys.appName))?.webhookSettings?.sandboxUrls).toEqual([`${url}/sandbox`]);
  });

  it('is sent once however often the stream shows the record and the queue the message', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const record = await world.recordUpdate(id, bought('ann'));
    await world.fanOut([record, record]);
    await world.workUntil(world.now);
    await world.fanOut([record]);
    await world.workUntil(world.now + dayMs);
    expect(server.requests).toHaveLength(1);
  });

  it('is not written for an application without a URL, nor for a change that announces nothing', async () => {
    const without = await createWebhookHarness({ urls: [] });
    await toldOf(without);
    expect(without.queue).toEqual([]);
    const world = await createWebhookHarness({ urls: [server.url] });
    const record = await world.recordUpdate(id, bought('ann'));
    const { dynamodb } = record;
    await world.fanOut([{ ...record, dynamodb: { ...dynamodb, OldImage: dynamodb?.NewImage ?? {} } }]);
    await world.fanOut([{ ...record, eventName: 'REMOVE' }]);
    expect(world.queue).toEqual([]);
  });

  it('leaves an event with the status and the start of the answer, and no secret', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/hooks?token=abc`] });
    const { appName, secretKey } = world.keys;
    server.respondWith(({ body }) => ({ status: 500, body: `oh no: ${world.signingSecret.slice(6)} ${body}` }));
    await toldOf(world);
    const [event] = await world.deps.events.listByTags(appName, ['ann'], 10);
    expect(event).toMatchObject({ type: 'webhook.app.called', outcome: { ok: false }, applicationUsername: 'ann' });
    const raw = await world.deps.events.findRaw(appName, event?.eventId ?? '');
    expect(raw).toMatchObject({
      response: { body: { status: 500, message: expect.stringContaining('oh no') } },
      externalRequests: [{ method: 'POST', response: { status: 500 }, timing: { startedAt: startDate } }],
    });
    const text = JSON.stringify([event, raw]);
    for (const secret of [secretKey, world.signingSecret.slice(6), 'abc']) expect(text).not.toContain(secret);
  });
});

describe('a webhook that fails', () => {
  it('comes again through an outage of two days, with the same id and with what is true by then', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const times: number[] = [];
    server.respondWith(() => {
      times.push(world.now - startDate);
      return { status: world.now < startDate + 2 * dayMs ? 500 : 204 };
    });
    await toldOf(world, bought('ann'), startDate + dayMs);
    await world.recordUpdate(id, renewed(startDate + dayMs));
    await world.workUntil(startDate + 4 * dayMs);
    const least = retryDelaysMs.map((_wait, index) =>
      retryDelaysMs.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0),
    );
    const expected = [0, ...least].slice(0, times.length);
    expect(times.length).toBeGreaterThanOrEqual(8);
    times.forEach((at, index) => {
      expect(at).toBeGreaterThanOrEqual(expected[index] ?? 0);
      expect(at).toBeLessThanOrEqual((expected[index] ?? 0) * 1.1 + index * 2 * minute);
    });
    expect(new Set(server.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(bodies().at(-1).purchases['store_a:monthly'].transactionId).toBe('store_a:2');
    expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  });

  it('is dead after ten attempts, listed, and can be replayed', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 500 });
    await toldOf(world, bought('ann'), startDate + 6 * dayMs);
    expect(server.requests).toHaveLength(10);
    const [dead] = await listDeliveries(world.keys.appName, 'dead', world.deps);
    expect(dead).toMatchObject({ attempts: 10, lastStatus: 500, failure: 'The server answered 500.', username: 'ann' });
    server.respondWith({ status: 200 });
    expect(await replayDeliveries(world.keys.appName, dead?.deliveryId, world.deps)).toHaveLength(1);
    await world.workUntil(world.now);
    expect(server.requests).toHaveLength(11);
    expect(headerOf(10, 'webhook-id')).toBe(headerOf(0, 'webhook-id'));
    expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  });

  it('can be replayed while its URL is down: it waits as one that is new', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 503 });
    await toldOf(world, bought('ann'), startDate + 8 * dayMs);
    await world.deps.deliveries.saveUrlBackoff(world.keys.appName, server.url, hanging(world));
    server.respondWith({ status: 200 });
    server.requests.length = 0;
    await replayDeliveries(world.keys.appName, undefined, world.deps);
    await world.workUntil(world.now + 2 * dayMs);
    expect(server.requests).toHaveLength(1);
    expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  });

  it('waits as long as the server asks for', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 429, headers: { 'retry-after': '3600' } });
    await toldOf(world, bought('ann'), startDate + 59 * minute);
    expect(server.requests).toHaveLength(1);
    await world.workUntil(startDate + 68 * minute);
    expect(server.requests).toHaveLength(2);
  });

  it('counts our own trouble as a failed attempt, listed and sent again', async () => {
    let broken = true;
    const around: WrapCall = async (name, call) => {
      if (broken && name === 'query') throw new Error('the table is away');
      return await call();
    };
    const world = await createWebhookHarness({ urls: [server.url], around });
    const lines: string[] = [];
    const logged = console.error;
    console.error = (entry: unknown) => void lines.push(JSON.stringify(entry));
    await toldOf(world);
    console.error = logged;
    broken = false;
    expect(lines.join()).toContain('the table is away');
    const waiting = await listDeliveries(world.keys.appName, 'pending', world.deps);
    expect(waiting).toMatchObject([{ attempts: 1, failure: expect.stringMatching(/could not be sent/) }]);
    expect(server.requests).toHaveLength(0);
    await world.workUntil(startDate + minute);
    expect(server.requests).toHaveLength(1);
  });

  it('comes again by the sweep when the message of its next attempt is lost', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 500 });
    await toldOf(world);
    expect(world.queue.splice(0)).toHaveLength(1);
    server.respondWith({ status: 200 });
    await world.workUntil(startDate + 3 * minute);
    expect(server.requests).toHaveLength(2);
  });

  it('goes to the new URL when the one it failed at is given up', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const { appName } = world.keys;
    server.respondWith(({ path }) => ({ status: path === '/other' ? 200 : 500 }));
    await toldOf(world);
    const settings = {
      urls: [`${server.url}/other`, `${server.url}/other?2`],
      sandboxUrls: [],
      includesPassword: true,
    };
    await setWebhook(appName, settings, { newSecret: false, deps: world.deps });
    await world.workUntil(startDate + minute);
    const [first, ...then] = bodies();
    expect(server.requests.slice(0, 2).map(({ path }) => path)).toEqual(['/', '/other']);
    expect(then[0]).toEqual(first);
    const left = await listDeliveries(appName, undefined, world.deps);
    expect(left.map(({ state, url }) => [state, url])).toEqual([['pending', `${server.url}/other?2`]]);
  });

  it.each([
    ['while it waits', minute],
    ['once it is dead and replayed', 6 * dayMs],
  ])('goes to the first URL again when the one that took its place is given up for it %s', async (_when, after) => {
    const world = await createWebhookHarness({ urls: [`${server.url}/first`] });
    const { appName } = world.keys;
    server.respondWith({ status: 500 });
    await toldOf(world);
    await moveTo(world, '/second');
    await world.workUntil(startDate + after);
    await moveTo(world, '/first');
    await replayDeliveries(appName, undefined, world.deps);
    server.respondWith({ status: 200 });
    server.requests.length = 0;
    await world.workUntil(world.now + dayMs);
    expect(server.requests.map(({ path }) => path)).toEqual(['/first']);
    expect(await listDeliveries(appName, undefined, world.deps)).toEqual([]);
  });

  it('goes to the first URL again also while that is down, days after it was moved away', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/first`] });
    const { appName } = world.keys;
    server.respondWith({ status: 500 });
    await toldOf(world);
    await moveTo(world, '/second');
    await world.workUntil(startDate + 8 * dayMs);
    await moveTo(world, '/first');
    await world.deps.deliveries.saveUrlBackoff(appName, `${server.url}/first`, hanging(world));
    await replayDeliveries(appName, undefined, world.deps);
    server.respondWith({ status: 200 });
    server.requests.length = 0;
    await world.workUntil(world.now + 2 * dayMs);
    expect(server.requests.map(({ path }) => path)).toEqual(['/first']);
  });

  it.each([
    ['of production', createObservation(), '/live'],
    ['of the sandbox', createObservation({ sandbox: true }), '/first'],
  ])(
    'and is %s goes where such ones go when its URL becomes the one for the sandbox',
    async (_what, observed, path) => {
      const world = await createWebhookHarness({ urls: [`${server.url}/first`] });
      const { appName } = world.keys;
      server.respondWith({ status: 500 });
      await toldOf(world, bought('ann', { observation: observed }));
      const settings = { urls: [`${server.url}/live`], sandboxUrls: [`${server.url}/first`], includesPassword: true };
      await setWebhook(appName, settings, { newSecret: false, deps: world.deps });
      server.respondWith({ status: 200 });
      server.requests.length = 0;
      await world.workUntil(startDate + dayMs);
      expect(server.requests.map((taken) => taken.path)).toEqual([path]);
    },
  );

  it('ends dead when its application takes none any more, and a test when its URL is given up', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const { appName } = world.keys;
    server.respondWith({ status: 500 });
    await toldOf(world);
    await sendTestWebhook(appName, world.deps);
    const settings = { urls: [], sandboxUrls: [], includesPassword: true };
    await setWebhook(appName, settings, { newSecret: false, deps: world.deps });
    await world.workUntil(startDate + dayMs);
    expect(server.requests).toHaveLength(1);
    const dead = await listDeliveries(appName, 'dead', world.deps);
    expect(dead.map(({ failureReason }) => failureReason).sort()).toEqual([
      'The application has another URL now.',
      'The application has no URL any more.',
    ]);
  });
});

describe('a URL that takes no webhooks', () => {
  it('is switched off by 410, and on by a test that it answers', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 410 });
    await toldOf(world);
    await toldOf(world, renewed(startDate + minute), startDate + dayMs);
    expect(server.requests).toHaveLength(1);
    const dead = await listDeliveries(world.keys.appName, 'dead', world.deps);
    expect(dead.map(({ failureReason }) => failureReason).sort()).toEqual([
      'The URL is switched off: it answered 410.',
      'The server answered 410.',
    ]);
    server.respondWith({ status: 200 });
    await sendTestWebhook(world.keys.appName, world.deps);
    await world.workUntil(world.now);
    expect(bodies()[1]).toEqual({ type: 'test', password: world.keys.secretKey });
    await replayDeliveries(world.keys.appName, undefined, world.deps);
    await world.workUntil(world.now);
    expect(server.requests).toHaveLength(4);
  });

  it.each([
    ['hangs', { status: 200, hangs: true }],
    ['is taken after it hung', { status: 200 }],
  ])('stays off after its 410 when another webhook that was on its way %s', async (_what, response) => {
    let settled = Promise.resolve();
    const around: WrapCall = async (name, call) => {
      const result = await call();
      // The other answer comes when the 410 has been dealt with.
      if (name === 'post' && JSON.stringify(result).includes(':410')) return result;
      if (name === 'post') await settled;
      return result;
    };
    const world = await createWebhookHarness({ urls: [server.url], around });
    const records = [await world.recordUpdate(id, bought('ann')), await world.recordUpdate(id, renewed(startDate))];
    await world.fanOut(records);
    server.respondWith({ status: 200, hangs: true });
    const ordered = () => world.queue.splice(0).map(({ order }) => order);
    await Promise.all(ordered().map(async (order) => await sendWebhook(order, world.deps)));
    world.now += minute;
    const [first, second] = ordered();
    if (!first || !second) throw new Error('both are sent again');
    server.respondWith(({ headers }) => (headers['webhook-id'] === first.deliveryId ? { status: 410 } : response));
    const other = sendWebhook(second, world.deps);
    settled = sendWebhook(first, world.deps);
    await Promise.all([settled, other]);
    server.requests.length = 0;
    await toldOf(world, { ...bought('bob'), now: world.now }, world.now + dayMs);
    expect(server.requests).toHaveLength(0);
    const dead = await listDeliveries(world.keys.appName, 'dead', world.deps);
    expect(dead.map(({ failureReason }) => failureReason)).toContain('The URL is switched off: it answered 410.');
  });

  it('is left alone while it hangs: further webhooks wait without an attempt and come when it is back', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    server.respondWith({ status: 200, hangs: true });
    await toldOf(world);
    const others = Array.from({ length: 5 }, (_, index) => `store_a:other-${index}`);
    for (const other of others) {
      const observation = createObservation({ purchaseId: other, transactionId: other });
      await world.fanOut([await world.recordUpdate(other, bought('ann', { observation }))]);
    }
    await world.workUntil(startDate + 1_000);
    expect(server.requests).toHaveLength(1);
    const waiting = await listDeliveries(world.keys.appName, 'pending', world.deps);
    expect(waiting.map(({ failedAttempts }) => failedAttempts).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    server.respondWith({ status: 200 });
    await world.workUntil(startDate + 10 * minute);
    const ids = server.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(6);
    expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  });

  it('in a private network gets nothing', async () => {
    const world = await createWebhookHarness({ urls: [server.url], allowsLoopback: false });
    await toldOf(world);
    expect(server.requests).toEqual([]);
    const failure = 'The webhook URL does not start with https.';
    expect(await listDeliveries(world.keys.appName, 'pending', world.deps)).toMatchObject([{ failure, attempts: 1 }]);
  });
});
