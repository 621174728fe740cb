import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { createClock } from '../../emulator/clock.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { type NotificationReceiver, respondWithStatus, startReceiver, waitUntil } from './notification-receiver.ts';
import { formatNotificationType } from './random-histories.ts';

let user: EmulatorClient;
let receiver: NotificationReceiver;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());
beforeEach(async () => {
  user.clock.set(startTime);
  receiver = await startReceiver();
  await user.control('PUT', '/control/notifications/store_a', { url: receiver.url });
});
afterEach(async () => {
  receiver.close();
  await user.control('DELETE', '/control/notifications');
});

/** What the control API lists of the notifications for the receiver of this test. */
async function listed() {
  const { body } = await user.control('GET', '/control/notifications');
  return body.notifications.filter(({ url }: { url: string }) => url === receiver.url);
}

const are = async (state: string): Promise<void> =>
  waitUntil(async () => (await listed()).every((one: { state: string }) => one.state === state));

const payloads = () => receiver.received.map(({ body }) => decodePayload(JSON.parse(body).signedPayload));
const names = () => payloads().map(formatNotificationType);
const order = (order: object) => user.control('POST', '/control/notifications', order);
const release = (how: object = {}) => user.control('POST', '/control/notifications/release', how);

/** Waits until the only notification was attempted so many times. */
const attempted = (count: number): Promise<void> =>
  waitUntil(async () => (await listed())[0].attempts.length === count);

describe('the outbox', () => {
  it('posts each notification once, at once, and lists how it went', async () => {
    const { id } = (await user.buy()).body;
    await are('delivered');
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers['content-type']).toBe('application/json');
    expect(await listed()).toEqual([
      {
        id: expect.any(String),
        platform: 'store_a',
        purchaseId: id,
        at: '2027-01-31T10:00:00.000Z',
        native: { notificationType: 'SUBSCRIBED', subtype: 'INITIAL_BUY', environment: 'Production' },
        url: receiver.url,
        state: 'delivered',
        attempts: [{ at: '2027-01-31T10:00:00.000Z', status: 200 }],
      },
    ]);
  });

  it('posts nothing where nobody wants it, though the journal shows it', async () => {
    await user.control('PUT', '/control/notifications/store_a', { url: null });
    const { body } = await user.buy();
    expect(body.notifications).toHaveLength(1);
    expect(await listed()).toEqual([]);
  });

  it('sends copies of the next notifications, which are the same notification', async () => {
    await order({ platform: 'store_a', times: 3, next: 1 });
    const { id } = (await user.buy()).body;
    await user.act(id, 'renew');
    await are('delivered');
    const ids = (await receiver.waitForCount(4)) && payloads().map(({ notificationUUID }) => notificationUUID);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(2);
  });

  it('sends what is delayed once the clock is there', async () => {
    await order({ delayed: 'PT1H' });
    await user.buy();
    await user.advance('PT59M');
    expect(await listed()).toMatchObject([{ state: 'waiting', dueAt: '2027-01-31T11:00:00.000Z', attempts: [] }]);
    await user.advance('PT1M');
    await are('delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('sends what is delayed also when the clock gets there by itself', async () => {
    const other = await startEmulatorClient({ clock: createClock() });
    other.setNotificationUrl('store_a', receiver.url);
    await other.control('POST', '/control/notifications', { delayed: 'PT1S' });
    await other.buy();
    expect(await receiver.waitForCount(1)).toHaveLength(1);
    await other.close();
  });

  test.each([
    [{}, ['SUBSCRIBED/INITIAL_BUY', 'DID_RENEW', 'EXPIRED', 'REFUND']],
    [{ order: 'reversed' }, ['REFUND', 'EXPIRED', 'DID_RENEW', 'SUBSCRIBED/INITIAL_BUY']],
    [{ order: 'shuffled', seed: 7 }, ['SUBSCRIBED/INITIAL_BUY', 'EXPIRED', 'REFUND', 'DID_RENEW']],
  ])('holds notifications until they are released as %j', async (how, expected) => {
    await order({ held: true });
    const { id } = (await user.buy()).body;
    for (const action of ['renew', 'expire', 'refund']) await user.act(id, action);
    await user.advance('P1D');
    expect(new Set((await listed()).map(({ state }: { state: string }) => state))).toEqual(new Set(['held']));
    expect((await release(how)).body).toEqual({ released: 4 });
    await receiver.waitForCount(4);
    expect(names()).toEqual(expected);
  });

  it('delivers as usual again once the orders are cleared', async () => {
    await order({ held: true });
    await order({ platform: 'store_b', times: 2 });
    expect((await user.control('GET', '/control/notifications')).body.orders).toHaveLength(2);
    await user.control('DELETE', '/control/notifications');
    await user.buy();
    await are('delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('repeats what failed by the delays of the store, and gives up', async () => {
    receiver.respondWith(respondWithStatus(500));
    await user.buy();
    await attempted(1);
    for (const [done, hours] of [1, 12, 24, 48, 72].entries()) {
      await user.advance(`PT${hours - 1}H59M`);
      expect((await listed())[0].attempts).toHaveLength(done + 1);
      await user.advance('PT1M');
      await attempted(done + 2);
    }
    expect(await listed()).toMatchObject([{ state: 'failed' }]);
    await user.advance('P15D');
    expect(receiver.received).toHaveLength(6);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it('stops repeating once it was delivered', async () => {
    receiver.respondWith(respondWithStatus(503));
    await user.buy({ productId: 'coins', type: 'consumable' });
    await attempted(1);
    receiver.respondWith(respondWithStatus(200));
    await user.advance('PT1H');
    await are('delivered');
    await user.advance('P15D');
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    [206, 'delivered'],
    [207, 'failed'],
    [302, 'failed'],
    [400, 'failed'],
  ])('takes an answer with %i in the sandbox, which tries once, for %s', async (code, state) => {
    receiver.respondWith((response) => response.writeHead(code, { location: receiver.url }).end());
    await user.buy({ sandbox: true });
    await are(state);
    expect(receiver.received).toHaveLength(1);
  });

  it('takes a closed port for a failure without a status', async () => {
    receiver.close();
    await user.buy({ sandbox: true });
    await are('failed');
    expect((await listed())[0].attempts).toMatchObject([{ failure: 'no-connection' }]);
  });

  it('neither waits for a service that does not answer nor is kept from closing by it', async () => {
    receiver.respondWith(() => {});
    const other = await startEmulatorClient();
    other.setNotificationUrl('store_a', receiver.url);
    expect((await other.buy()).status).toBe(200);
    await receiver.waitForCount(1);
    await other.close();
  });

  test.each([
    ['PUT', '/control/notifications/store_a', { url: 'nowhere' }, 400],
    ['PUT', '/control/notifications/store_a', { url: 'file:///etc/hosts' }, 400],
    ['PUT', '/control/notifications/store_c', { url: 'http://127.0.0.1:1/' }, 422],
    ['PUT', '/control/notifications/store_x', { url: 'http://127.0.0.1:1/' }, 404],
    ['POST', '/control/notifications', { times: 6 }, 400],
    ['POST', '/control/notifications', { platform: 'store_x' }, 400],
    ['POST', '/control/notifications/release', { order: 'random' }, 400],
  ])('refuses %s %s with %j', async (method, path, body, code) => {
    expect(await user.control(method, path, body)).toMatchObject({ status: code });
  });
});

describe('an outbox with a state file', () => {
  it('sends after a restart what was held, delayed, failed or under way', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
    const options = { clock: createClock(), stateFile: join(folder, 'state.json') };
    const before = await startEmulatorClient(options);
    before.setNotificationUrl('store_a', receiver.url);
    receiver.respondWith(() => {});
    const { id } = (await before.buy()).body;
    await before.control('POST', '/control/notifications', { held: true });
    await before.act(id, 'renew');
    await receiver.waitForCount(1);
    await before.close();
    receiver.respondWith(respondWithStatus(200));
    const after = await startEmulatorClient(options);
    await receiver.waitForCount(2);
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    await after.control('POST', '/control/notifications/release');
    await receiver.waitForCount(3);
    expect(names()[2]).toBe('DID_RENEW');
    await after.close();
    rmSync(folder, { recursive: true });
  });

  it.each(['store_a', 'store_b', 'processor_a'])('still posts what %s held before', async (platform) => {
    const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
    const options = { stateFile: join(folder, 'state.json') };
    const before = await startEmulatorClient(options);
    before.setNotificationUrl(platform, receiver.url);
    await before.control('POST', '/control/notifications', { held: true });
    const { status: bought, body } = await before.buy({ platform });
    expect({ bought, message: body.message }).toEqual({ bought: 200 });
    await before.act(body.id, 'cancel');
    const { notifications } = (await before.control('GET', '/control/notifications')).body;
    await before.close();
    const after = await startEmulatorClient(options);
    expect((await after.control('GET', '/control/notifications')).body.notifications).toEqual(notifications);
    const { released } = (await after.control('POST', '/control/notifications/release')).body;
    expect(released).toBeGreaterThan(0);
    await receiver.waitForCount(released);
    await after.close();
    rmSync(folder, { recursive: true });
  });
});
