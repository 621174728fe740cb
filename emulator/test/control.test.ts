import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import {
  decodePayload,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
  type TestResponse,
} from './emulator-client.ts';
import { waitUntil } from './notification-receiver.ts';

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

  it('shows a transition that falls due between two reads, even of a purchase that was made after the first one', async () => {
    const secondClient = await startEmulatorClient();
    const buy = async (period: string): Promise<string> =>
      (await secondClient.buy({ productId: `each-${period}`, period, autoRenew: true })).body.id;
    const countPeriods = async (id: string): Promise<number> =>
      (await secondClient.control('GET', `/control/purchases/${id}`)).body.lines.length;
    const monthly = await buy('P1M');
    expect(await countPeriods(monthly)).toBe(1);
    const weekly = await buy('P1W');
    secondClient.clock.set(startTime + 8 * dayMs);
    expect([await countPeriods(weekly), await countPeriods(monthly)]).toEqual([2, 1]);
    secondClient.clock.set(startTime + 29 * dayMs);
    expect([await countPeriods(weekly), await countPeriods(monthly)]).toEqual([5, 2]);
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

test('removes purchases, notifications and faults with a reset, and keeps the clock, URLs and keys', async () => {
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

describe('POST /control/purchases', () => {
  it('returns the body that a client posts to /v1/validate', async () => {
    const { status, body } = await client.buy({ applicationUsername: 'user-42' });
    expect(status).toBe(200);
    expect(body.validate).toEqual({
      id: 'com.example.app',
      type: 'application',
      transaction: { type: 'apple-sk2', id: 'monthly', jwsRepresentation: expect.any(String) },
      additionalData: { applicationUsername: 'user-42', obfuscatedUsername: '7631bc07-a1cc-3fcd-86e7-0fc6b2fb4a43' },
    });
    expect(decodePayload(body.validate.transaction.jwsRepresentation)).toMatchObject({
      transactionId: body.id,
      environment: 'Production',
      price: 4990,
      currency: 'USD',
      expiresDate: Date.parse('2027-02-28T10:00:00Z'),
    });
  });

  it('omits the customer if the order does not have a username', async () => {
    expect((await client.buy()).body.validate).not.toHaveProperty('additionalData');
  });

  test.each([
    ['receipt', { id: 'com.example.app', type: 'application', transaction: { type: 'ios-appstore' } }],
    ['product', { id: 'monthly', type: 'paid subscription', transaction: { type: 'apple-sk2', id: 'monthly' } }],
    ['product-receipt', { id: 'monthly', type: 'paid subscription', transaction: { type: 'ios-appstore' } }],
    [
      'download',
      { id: 'com.example.app', type: 'application', transaction: { type: 'apple-sk2', id: 'com.example.app' } },
    ],
  ])('returns the validate body in the form %s', async (form, validate) => {
    const { body } = await client.buy({ form });
    expect(body.validate).toMatchObject(validate);
    const response = await client.control('GET', `/control/purchases/${body.id}?form=${form}`);
    expect(response.body).toMatchObject({ id: body.id, state: 'ACTIVE', validate });
  });

  it('applies the terms of the order', async () => {
    const terms = { productId: 'gold', period: 'P1Y', priceMicros: 49_990_000, currency: 'EUR', sandbox: true };
    const { body } = await client.buy(terms);
    expect(body).toMatchObject({ sandbox: true, expiresDate: '2028-01-31T10:00:00.000Z' });
    expect(decodePayload(body.validate.transaction.jwsRepresentation)).toMatchObject({
      environment: 'Sandbox',
      price: 49990,
      currency: 'EUR',
      storefront: 'DEU',
    });
  });

  test.each([
    ['consumable', 'Consumable'],
    ['non consumable', 'Non-Consumable'],
    ['non renewing subscription', 'Non-Renewing Subscription'],
  ])('creates a %s', async (type, native) => {
    const { body } = await client.buy({ productId: `a ${type}`, type });
    const payload = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(payload).toMatchObject({ type: native, originalTransactionId: body.id });
    expect(payload).not.toHaveProperty('expiresDate');
    expect(body.state).toBe('PURCHASED');
    expect((await client.act(body.id, 'renew')).status).toBe(422);
    expect((await client.act(body.id, 'refund')).body.state).toBe('REVOKED');
  });

  it('returns the period of a non-renewing subscription, because the store does not have it', async () => {
    const season = { productId: 'season', type: 'non renewing subscription', period: 'P3M', form: 'product' };
    const billing = { billingPeriod: 3, billingPeriodUnit: 'Month' };
    expect((await client.buy(season)).body.validate).toMatchObject({ id: 'season', ...billing });
    expect((await client.buy(season)).body.validate).toMatchObject(billing);
  });

  it('accepts the brand name of a store', async () => {
    expect(await client.buy({ platform: 'apple' })).toMatchObject({ status: 200, body: { platform: 'store_a' } });
  });

  test.each([
    [{ platform: 'store_x' }, 400, 'platform'],
    [{ type: 'gift' }, 400, 'type'],
    [{ productId: '' }, 400, 'productId'],
    [{ period: '1 month' }, 400, 'period'],
    [{ priceMicros: 1.5 }, 400, 'priceMicros'],
    [{ currency: 'dollars' }, 400, 'currency'],
    [{ colour: 'red' }, 400, 'colour'],
    [{ form: 'letter' }, 400, 'form'],
    [{ trial: true, intro: true }, 400, 'trial'],
    [{ productId: 'bar', type: 'consumable', trial: true }, 422, 'subscriptions'],
    [{ productId: 'monthly', period: 'P1Y' }, 422, 'exists already'],
  ])('rejects the order %j', async (order, status, text) => {
    expect(await client.buy(order)).toMatchObject({ status, body: { status, message: expect.stringContaining(text) } });
  });
});

describe('POST /control/purchases/{id}/{action}', () => {
  it('finds a purchase by its id of the service, too', async () => {
    const { body } = await client.control('POST', '/control/purchases', {
      platform: 'store_b',
      productId: 'premium',
      type: 'paid subscription',
    });
    const id = encodeURIComponent(`store_b:${body.id}`);
    expect((await client.control('GET', `/control/purchases/${id}`)).body.id).toBe(body.id);
    expect((await client.control('POST', `/control/purchases/${id}/cancel`, {})).status).toBe(200);
    expect((await client.control('GET', `/control/purchases/store_a:${body.id}`)).status).toBe(404);
  });

  test.each(['pause', 'resume', 'fly', 'toString'])('rejects the unsupported action %s', async (action) => {
    const { id } = (await client.buy()).body;
    expect(await client.act(id, action)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(action) },
    });
  });

  it('rejects an action on a missing purchase', async () => {
    expect(await client.act('123', 'renew')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('123') },
    });
  });

  test.each([
    ['change-plan', 'productId'],
    ['share', 'applicationUsername'],
  ])('rejects %s without %s', async (action, missing) => {
    const { id } = (await client.buy()).body;
    expect(await client.act(id, action)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(missing) },
    });
  });

  it('returns the changed purchase, new evidence and the notifications of the store', async () => {
    const { id } = (await client.buy()).body;
    const { body } = await client.act(id, 'renew');
    expect(body).toMatchObject({ id, state: 'ACTIVE', transactions: 2, expiresDate: '2027-03-31T10:00:00.000Z' });
    expect(decodePayload(body.validate.transaction.jwsRepresentation).transactionId).toBe(body.transactionId);
    expect(body.notifications).toEqual([
      {
        platform: 'store_a',
        purchaseId: id,
        at: '2027-01-31T10:00:00.000Z',
        notificationType: 'DID_RENEW',
        environment: 'Production',
      },
    ]);
  });
});

let path: string;
beforeAll(async () => {
  path = `/inApps/v1/transactions/${(await client.buy()).body.id}`;
});
afterEach(() => client.control('DELETE', '/control/faults'));

const callStore = (): Promise<TestResponse> => client.callServerApi(path);

describe('store with a fault', () => {
  it('responds with 503 if it is down', async () => {
    await client.addFault({ fault: 'down' });
    expect(await callStore()).toMatchObject({ status: 503 });
    expect(await callStore()).toMatchObject({ status: 200 });
  });

  it('returns the time of the next allowed call in milliseconds if it limits the rate', async () => {
    await client.addFault({ fault: 'rate-limited' });
    const { status, body, headers } = await callStore();
    expect({ status, body }).toEqual({
      status: 429,
      body: { errorCode: 4290000, errorMessage: 'Rate limit exceeded.' },
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(startTime);
  });

  it('returns HTML with status 200', async () => {
    await client.addFault({ fault: 'html' });
    const { status, body, headers } = await callStore();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(body).toMatch(/^<!DOCTYPE html>/);
  });

  it('closes the connection in the middle of a response', async () => {
    await client.addFault({ fault: 'cut' });
    const response = await fetch(`${client.url}/api.storekit.apple.com${path}`);
    expect(response.headers.get('content-length')).toBe('16');
    await expect(response.text()).rejects.toThrow();
    expect(await callStore()).toMatchObject({ status: 200 });
  });

  it('delays a response', async () => {
    await client.addFault({ fault: 'slow', delayMs: 60 });
    const startedAt = performance.now();
    expect(await callStore()).toMatchObject({ status: 200 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
  });

  it('does not delay the shutdown of the emulator', async () => {
    const secondClient = await startEmulatorClient();
    await secondClient.addFault({ fault: 'slow' });
    const pending = fetch(`${secondClient.url}/buy.itunes.apple.com/verifyReceipt`);
    const failure = expect(pending).rejects.toThrow();
    await waitUntil(async () => {
      const { platforms } = (await secondClient.control('GET', '/control')).body;
      return platforms.store_a.faults.length === 0;
    });
    await secondClient.close();
    await failure;
  });
});

describe('/control/faults', () => {
  it('applies faults one after another, each for its number of calls', async () => {
    await client.addFault({ fault: 'down', times: 2 });
    await client.addFault({ fault: 'html' });
    const statuses = [await callStore(), await callStore(), await callStore(), await callStore()].map(
      ({ status, headers }) => [status, headers.get('content-type')?.split(';')[0]],
    );
    expect(statuses).toEqual([
      [503, 'text/plain'],
      [503, 'text/plain'],
      [200, 'text/html'],
      [200, 'application/json'],
    ]);
  });

  it('lists and clears faults', async () => {
    await client.addFault({ fault: 'down', times: 5 });
    await callStore();
    const { body } = await client.control('GET', '/control');
    expect(body.platforms.store_a.faults).toMatchObject([{ fault: 'down', times: 4 }]);
    await client.control('DELETE', '/control/faults');
    expect(await callStore()).toMatchObject({ status: 200 });
  });

  it('does not affect the control API', async () => {
    await client.addFault({ fault: 'down' });
    expect(await client.buy()).toMatchObject({ status: 200 });
  });

  test.each([
    { fault: 'fire' },
    { fault: 'down', times: 0 },
    { fault: 'slow', delayMs: -1 },
    { platform: 'store_x', fault: 'down' },
  ])('rejects %j', async (fault) => {
    expect(await client.addFault(fault)).toMatchObject({ status: 400 });
  });
});

describe('/control/accounts', () => {
  const setProblem = (platform: string, problem: string | null): Promise<TestResponse> =>
    client.control('PUT', `/control/accounts/${platform}`, { problem });

  it('gives an account a problem until it is removed', async () => {
    expect(await setProblem('apple', 'unreleased')).toMatchObject({ status: 200, body: { platform: 'store_a' } });
    expect([await callStore(), await callStore()]).toMatchObject([{ status: 401 }, { status: 401 }]);
    expect(await client.callServerApi(path, 'api.storekit-sandbox.apple.com')).toMatchObject({ status: 404 });
    const { body } = await client.control('GET', '/control');
    expect(body.platforms).toMatchObject({
      store_a: { accountProblem: 'unreleased' },
      store_b: { accountProblem: null },
    });
    await setProblem('store_a', null);
    expect(await callStore()).toMatchObject({ status: 200 });
  });

  it('rejects a problem that accounts of the store do not have, with the available ones', async () => {
    const { status, body } = await setProblem('store_c', 'unreleased');
    expect(status).toBe(400);
    expect(body.message).toContain('secret-expired, not-associated');
  });
});

describe('Date header', () => {
  it('contains the emulated time', async () => {
    expect(Date.parse((await callStore()).headers.get('date') ?? '')).toBe(client.clock.now());
  });
});
