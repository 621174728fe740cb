import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createClock } from '../clock.ts';
import { decodePayload, startEmulatorClient, startTime } from './emulator-client.ts';
import { type NotificationReceiver, respondWithStatus, startReceiver, waitUntil } from './notification-receiver.ts';
import { formatNotificationType } from './random-histories.ts';

const client = startBeforeAll(startEmulatorClient);
let receiver: NotificationReceiver;
beforeEach(async () => {
  client.clock.set(startTime);
  receiver = await startReceiver();
  await client.control('PUT', '/control/notifications/store_a', { url: receiver.url });
});
afterEach(async () => {
  receiver.close();
  await client.control('DELETE', '/control/notifications');
});

/** Lists the deliveries to the receiver of this test. */
async function listDeliveries() {
  const { body } = await client.control('GET', '/control/notifications');
  return body.notifications.filter(({ url }: { url: string }) => url === receiver.url);
}

const waitForState = async (state: string): Promise<void> =>
  waitUntil(async () => (await listDeliveries()).every((delivery: { state: string }) => delivery.state === state));

const listPayloads = () => receiver.received.map(({ body }) => decodePayload(JSON.parse(body).signedPayload));
const listTypes = () => listPayloads().map(formatNotificationType);
const addRule = (rule: object) => client.control('POST', '/control/notifications', rule);
const release = (body: object = {}) => client.control('POST', '/control/notifications/release', body);

/** Waits until the only delivery has this number of attempts. */
const waitForAttempts = (count: number): Promise<void> =>
  waitUntil(async () => (await listDeliveries())[0].attempts.length === count);

describe('Outbox', () => {
  it('posts each notification once, immediately, and lists the result', async () => {
    const { id } = (await client.buy()).body;
    await waitForState('delivered');
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers['content-type']).toBe('application/json');
    expect(await listDeliveries()).toEqual([
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

  it('lists the notifications of a state, and rejects an unknown one', async () => {
    const listIds = async (query: string): Promise<readonly string[]> => {
      const { body } = await client.control('GET', `/control/notifications?${query}`);
      return body.notifications.map(({ purchaseId }: { purchaseId: string }) => purchaseId);
    };
    const delivered = (await client.buy()).body.id;
    await waitForState('delivered');
    await addRule({ held: true });
    const held = (await client.buy()).body.id;
    expect(await listIds('state=held')).toEqual([held]);
    expect(await listIds('state=delivered')).toContain(delivered);
    expect(await listIds('state=delivered')).not.toContain(held);
    expect(await listIds(`state=held&state=delivered&purchaseId=${held}&purchaseId=${delivered}`)).toEqual([
      delivered,
      held,
    ]);
    expect(await listIds(`state=waiting&purchaseId=${held}`)).toEqual([]);
    expect((await client.control('GET', '/control/notifications?state=lost')).status).toBe(400);
    await release();
    await waitForState('delivered');
  });

  it('does not post without a URL, but logs the notification', async () => {
    await client.control('PUT', '/control/notifications/store_a', { url: null });
    const { body } = await client.buy();
    expect(body.notifications).toHaveLength(1);
    expect(await listDeliveries()).toEqual([]);
  });

  it('sends identical copies of the next notifications', async () => {
    await addRule({ platform: 'store_a', times: 3, next: 1 });
    const { id } = (await client.buy()).body;
    await client.act(id, 'renew');
    await waitForState('delivered');
    const ids = (await receiver.waitForCount(4)) && listPayloads().map(({ notificationUUID }) => notificationUUID);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(2);
  });

  it('sends a delayed notification when the clock is moved to its time', async () => {
    await addRule({ delayed: 'PT1H' });
    await client.buy();
    await client.advance('PT59M');
    expect(await listDeliveries()).toMatchObject([
      { state: 'waiting', dueAt: '2027-01-31T11:00:00.000Z', attempts: [] },
    ]);
    await client.advance('PT1M');
    await waitForState('delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('sends a delayed notification when a running clock reaches its time', async () => {
    const secondClient = await startEmulatorClient({ clock: createClock() });
    secondClient.setNotificationUrl('store_a', receiver.url);
    await secondClient.control('POST', '/control/notifications', { delayed: 'PT1S' });
    await secondClient.buy();
    expect(await receiver.waitForCount(1)).toHaveLength(1);
    await secondClient.close();
  });

  test.each([
    [{}, ['SUBSCRIBED/INITIAL_BUY', 'DID_RENEW', 'EXPIRED', 'REFUND']],
    [{ order: 'reversed' }, ['REFUND', 'EXPIRED', 'DID_RENEW', 'SUBSCRIBED/INITIAL_BUY']],
    [{ order: 'shuffled', seed: 7 }, ['SUBSCRIBED/INITIAL_BUY', 'EXPIRED', 'REFUND', 'DID_RENEW']],
  ])('holds notifications until they are released as %j', async (body, expected) => {
    await addRule({ held: true });
    const { id } = (await client.buy()).body;
    for (const action of ['renew', 'expire', 'refund']) await client.act(id, action);
    await client.advance('P1D');
    expect(new Set((await listDeliveries()).map(({ state }: { state: string }) => state))).toEqual(new Set(['held']));
    expect((await release(body)).body).toEqual({ released: 4 });
    await receiver.waitForCount(4);
    expect(listTypes()).toEqual(expected);
  });

  it('delivers immediately again after the rules are cleared', async () => {
    await addRule({ held: true });
    await addRule({ platform: 'store_b', times: 2 });
    expect((await client.control('GET', '/control/notifications')).body.orders).toHaveLength(2);
    await client.control('DELETE', '/control/notifications');
    await client.buy();
    await waitForState('delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('retries with the delays of the store, then stops', async () => {
    receiver.respondWith(respondWithStatus(500));
    await client.buy();
    await waitForAttempts(1);
    for (const [index, hours] of [1, 12, 24, 48, 72].entries()) {
      await client.advance(`PT${hours - 1}H59M`);
      expect((await listDeliveries())[0].attempts).toHaveLength(index + 1);
      await client.advance('PT1M');
      await waitForAttempts(index + 2);
    }
    expect(await listDeliveries()).toMatchObject([{ state: 'failed' }]);
    await client.advance('P15D');
    expect(receiver.received).toHaveLength(6);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it('stops retrying after a delivery', async () => {
    receiver.respondWith(respondWithStatus(503));
    await client.buy({ productId: 'coins', type: 'consumable' });
    await waitForAttempts(1);
    receiver.respondWith(respondWithStatus(200));
    await client.advance('PT1H');
    await waitForState('delivered');
    await client.advance('P15D');
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    [206, 'delivered'],
    [207, 'failed'],
    [302, 'failed'],
    [400, 'failed'],
  ])('treats the response %i in the sandbox, without retries, as %s', async (code, state) => {
    receiver.respondWith((response) => response.writeHead(code, { location: receiver.url }).end());
    await client.buy({ sandbox: true });
    await waitForState(state);
    expect(receiver.received).toHaveLength(1);
  });

  it('records a closed port as a failure without a status', async () => {
    receiver.close();
    await client.buy({ sandbox: true });
    await waitForState('failed');
    expect((await listDeliveries())[0].attempts).toMatchObject([{ failure: 'no-connection' }]);
  });

  it('does not wait for an unresponsive service, even when it closes', async () => {
    receiver.respondWith(() => {});
    const secondClient = await startEmulatorClient();
    secondClient.setNotificationUrl('store_a', receiver.url);
    expect((await secondClient.buy()).status).toBe(200);
    await receiver.waitForCount(1);
    await secondClient.close();
  });

  test.each([
    ['PUT', '/control/notifications/store_a', { url: 'nowhere' }, 400],
    ['PUT', '/control/notifications/store_a', { url: 'file:///etc/hosts' }, 400],
    ['PUT', '/control/notifications/store_c', { url: 'http://127.0.0.1:1/' }, 422],
    ['PUT', '/control/notifications/store_x', { url: 'http://127.0.0.1:1/' }, 404],
    ['POST', '/control/notifications', { times: 6 }, 400],
    ['POST', '/control/notifications', { platform: 'store_x' }, 400],
    ['POST', '/control/notifications/release', { order: 'random' }, 400],
  ])('rejects %s %s with %j', async (method, path, body, code) => {
    expect(await client.control(method, path, body)).toMatchObject({ status: code });
  });
});

describe('Outbox with a state file', () => {
  it('sends held and interrupted notifications after a restart', async () => {
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
    expect(listTypes()[2]).toBe('DID_RENEW');
    await after.close();
    rmSync(folder, { recursive: true });
  });

  it.each(['store_a', 'store_b', 'processor_a'])(
    'posts the held notifications of %s after a restart',
    async (platform) => {
      const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
      const options = { stateFile: join(folder, 'state.json') };
      const before = await startEmulatorClient(options);
      before.setNotificationUrl(platform, receiver.url);
      await before.control('POST', '/control/notifications', { held: true });
      const { status: purchaseStatus, body } = await before.buy({ platform });
      expect({ purchaseStatus, message: body.message }).toEqual({ purchaseStatus: 200 });
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
    },
  );
});
