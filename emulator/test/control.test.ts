import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

describe('POST /control/clock', () => {
  it('moves the clock by a period or to a timestamp', async () => {
    const secondClient = await startEmulatorClient();
    expect((await secondClient.control('GET', '/control/clock')).body).toEqual({
      now: new Date(startTime).toISOString(),
    });
    expect((await secondClient.advance('P1M')).body).toEqual({ now: '2027-02-28T10:00:00.000Z' });
    const set = await secondClient.control('POST', '/control/clock', { set: '2028-01-01T00:00:00Z' });
    expect(set.body).toEqual({ now: '2028-01-01T00:00:00.000Z' });
    expect(secondClient.clock.now()).toBe(Date.parse('2028-01-01T00:00:00Z'));
    await secondClient.close();
  });

  it('returns the time of the next transition or retry, at which setting the clock runs it', async () => {
    const secondClient = await startEmulatorClient();
    const getNextDueTime = async () => (await secondClient.control('GET', '/control/clock')).body.nextDueTime;
    expect(await getNextDueTime()).toBeUndefined();
    const platforms = ['store_a', 'store_b', 'store_c', 'processor_a'];
    for (const platform of platforms) await secondClient.buy({ platform, autoRenew: true, acknowledged: true });
    const nextDueTime = await getNextDueTime();
    expect(nextDueTime).toBe('2027-02-28T10:00:00.000Z');
    await secondClient.control('POST', '/control/clock', { set: nextDueTime });
    expect(await getNextDueTime()).toBe('2027-03-31T10:00:00.000Z');
    await secondClient.close();
  });

  test.each([
    {},
    { advance: 'P1M', set: '2028-01-01' },
    { advance: 'soon' },
    { set: 'soon' },
    { set: '2150-01-01' },
    { set: '2027-01-01' },
  ])('rejects %j', async (move) => {
    expect(await client.control('POST', '/control/clock', move)).toMatchObject({ status: 400 });
    expect(client.clock.now()).toBe(startTime);
  });
});

describe('control API', () => {
  test.each(['processor_a', 'processor_b'])('rejects a partial refund of a purchase of %s', async (platform) => {
    const { id } = (await client.buy({ platform, productId: 'whole', type: 'paid subscription' })).body;
    const refund = await client.control('POST', `/control/purchases/${id}/refund`, { quantity: 1 });
    expect(refund).toMatchObject({ status: 422, body: { message: expect.stringMatching(/^quantity: /) } });
  });

  it('returns the settings that an operator configures in the service', async () => {
    const settings = await client.control('GET', '/control/settings/store_a');
    expect(settings.body).toEqual({
      bundleId: 'com.example.app',
      appAppleId: 1234567890,
      issuerId: expect.any(String),
      keyId: expect.stringMatching(/^[0-9A-F]{10}$/),
      privateKey: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/),
      sharedSecret: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(client.settings('store_a')).toEqual(settings.body);
  });

  it('lists the purchases of all stores with the clock', async () => {
    const { id } = (await client.buy({ productId: 'watched', platform: 'store_b' })).body;
    const { now, platforms } = (await client.control('GET', '/control/purchases')).body;
    expect(now).toBe(new Date(startTime).toISOString());
    expect(platforms).toContainEqual({
      platform: 'store_b',
      actions: expect.arrayContaining(['renew', 'pay']),
      purchases: expect.arrayContaining([expect.objectContaining({ id, productId: 'watched' })]),
    });
  });

  it('lists products, purchases and actions of each store', async () => {
    const { id } = (await client.buy({ productId: 'listed', applicationUsername: 'lister' })).body;
    const { store_a } = (await client.control('GET', '/control')).body.platforms;
    expect(store_a.products).toContainEqual(expect.objectContaining({ id: 'listed', period: 'P1M' }));
    expect(store_a.purchases).toContainEqual(
      expect.objectContaining({ id, productId: 'listed', state: 'ACTIVE', applicationUsername: 'lister' }),
    );
    expect(store_a.actions).toEqual(expect.arrayContaining(['renew', 'fail-payment', 'share']));
  });

  test.each([
    ['GET', '/control/nothing', 404],
    ['GET', '/control/settings/store_x', 404],
    ['GET', '/control/purchases/1', 404],
    ['PUT', '/control/clock', 405],
    ['GET', '/control/%E0', 400],
    ['GET', '/', 404],
    ['GET', '/unknown.example.com/path', 404],
  ])('responds to %s %s with status %i and a message', async (method, path, status) => {
    expect(await client.control(method, path)).toMatchObject({ status, body: { status, message: expect.any(String) } });
  });

  it('rejects a body that is not JSON', async () => {
    const { status, body } = await client.call('/control/purchases', { method: 'POST', body: '{"platform":' });
    expect({ status, body }).toEqual({ status: 400, body: { status: 400, message: 'body: expected JSON.' } });
  });
});

test('a reset removes purchases, notifications and faults, and keeps the clock, URLs and keys', async () => {
  const other = await startEmulatorClient();
  const settings = other.settings('store_a');
  await other.buy({ autoRenew: true });
  await other.addFault({ fault: 'down' });
  await other.control('PUT', '/control/notifications/store_a', { url: 'http://localhost:1/' });
  await other.advance('P1M');
  const { now } = (await other.control('GET', '/control')).body;
  await other.reset();
  const { body } = await other.control('GET', '/control');
  expect(body).toMatchObject({ now, notifications: [], platforms: { store_a: { purchases: [], faults: [] } } });
  await other.buy({ autoRenew: true });
  await other.advance('P1M');
  const { notifications } = (await other.control('GET', '/control/notifications')).body;
  expect(notifications).not.toEqual([]);
  expect(other.settings('store_a')).toEqual(settings);
  await other.close();
});
