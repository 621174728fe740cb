import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime, type TestResponse } from './emulator-client.ts';

let user: EmulatorClient;
let path: string;
beforeAll(async () => {
  user = await startEmulatorClient();
  path = `/inApps/v1/transactions/${(await user.buy()).body.id}`;
});
afterEach(() => user.control('DELETE', '/control/faults'));
afterAll(() => user.close());

const ask = (): Promise<TestResponse> => user.callServerApi(path);

describe('a store', () => {
  it('that is down answers 503', async () => {
    await user.addFault({ fault: 'down' });
    expect(await ask()).toMatchObject({ status: 503 });
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('that limits the rate says when to come back, in milliseconds', async () => {
    await user.addFault({ fault: 'rate-limited' });
    const { status, body, headers } = await ask();
    expect({ status, body }).toEqual({
      status: 429,
      body: { errorCode: 4290000, errorMessage: 'Rate limit exceeded.' },
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(startTime);
  });

  it('can answer HTML as if all were well', async () => {
    await user.addFault({ fault: 'html' });
    const { status, body, headers } = await ask();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(body).toMatch(/^<!DOCTYPE html>/);
  });

  it('can break the connection in the middle of its answer', async () => {
    await user.addFault({ fault: 'cut' });
    const response = await fetch(`${user.url}/api.storekit.apple.com${path}`);
    expect(response.headers.get('content-length')).toBe('16');
    await expect(response.text()).rejects.toThrow();
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('can be slow', async () => {
    await user.addFault({ fault: 'slow', delayMs: 60 });
    const before = performance.now();
    expect(await ask()).toMatchObject({ status: 200 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(55);
  });

  it('that is slow does not keep the emulator from stopping', async () => {
    const other = await startEmulatorClient();
    await other.addFault({ fault: 'slow' });
    const hanging = fetch(`${other.url}/buy.itunes.apple.com/verifyReceipt`);
    const failure = expect(hanging).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.close();
    await failure;
  });
});

describe('faults', () => {
  it('last for so many calls, one after another', async () => {
    await user.addFault({ fault: 'down', times: 2 });
    await user.addFault({ fault: 'html' });
    const statuses = [await ask(), await ask(), await ask(), await ask()].map(({ status, headers }) => [
      status,
      headers.get('content-type')?.split(';')[0],
    ]);
    expect(statuses).toEqual([
      [503, 'text/plain'],
      [503, 'text/plain'],
      [200, 'text/html'],
      [200, 'application/json'],
    ]);
  });

  it('are shown and cleared', async () => {
    await user.addFault({ fault: 'down', times: 5 });
    await ask();
    const { body } = await user.control('GET', '/control');
    expect(body.platforms.store_a.faults).toMatchObject([{ fault: 'down', times: 4 }]);
    await user.control('DELETE', '/control/faults');
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('never hit the control API', async () => {
    await user.addFault({ fault: 'down' });
    expect(await user.buy()).toMatchObject({ status: 200 });
  });

  test.each([
    { fault: 'fire' },
    { fault: 'down', times: 0 },
    { fault: 'slow', delayMs: -1 },
    { platform: 'store_x', fault: 'down' },
  ])('are not made of %j', async (fault) => {
    expect(await user.addFault(fault)).toMatchObject({ status: 400 });
  });
});
