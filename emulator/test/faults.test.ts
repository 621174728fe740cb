import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime, type TestResponse } from './emulator-client.ts';
import { waitUntil } from './notification-receiver.ts';

let client: EmulatorClient;
let path: string;
beforeAll(async () => {
  client = await startEmulatorClient();
  path = `/inApps/v1/transactions/${(await client.buy()).body.id}`;
});
afterEach(() => client.control('DELETE', '/control/faults'));
afterAll(() => client.close());

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
