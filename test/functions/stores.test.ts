import { afterEach, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { checkStore, listStores } from '../../lib/stores/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
afterEach(async () => await service.clearFaults());

const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription' };

describe('GET /v3/stores', () => {
  it('returns the connected stores with the latest response and failure', async () => {
    const keys = await service.createApp(['store_a', 'store_b']);
    const fetchRows = async () => (await callWithSecretKey(listStores, keys)).body.rows;
    expect(await fetchRows()).toEqual(
      ['store_a', 'store_b'].map((platform) => ({
        platform,
        isFailing: false,
        health: 'unused',
        lastHour: { numRequests: 0, numFailures: 0 },
        lastDay: { numRequests: 0, numFailures: 0 },
        notificationUrl: `https://api.example.com/live/v3/webhook/${platform}/${keys.appName}`,
      })),
    );
    const { validate } = await service.callControl('/purchases', { ...order, applicationUsername: createUniqueName() });
    expect((await service.validate(keys, validate)).body.ok).toBe(true);
    const [appStore, googlePlay] = await fetchRows();
    expect(appStore).not.toHaveProperty('lastSuccessAt');
    expect(googlePlay).toMatchObject({
      isFailing: false,
      health: 'ok',
      lastDay: { numRequests: expect.any(Number), numFailures: 0 },
    });
    expect(googlePlay.lastDay.numRequests).toBeGreaterThan(0);
    expect(getService().now() - Date.parse(googlePlay.lastSuccessAt)).toBeLessThan(minuteMs);
    await service.callControl('/clock', { advance: 'PT5M' });
    await service.callControl('/faults', { platform: 'store_b', fault: 'down', times: 30 });
    await service.validate(keys, validate);
    const [, failing] = await fetchRows();
    expect(failing).toMatchObject({ isFailing: true, health: 'ok', lastSuccessAt: googlePlay.lastSuccessAt });
    expect(failing.lastDay.numFailures).toBeGreaterThan(0);
    expect(failing.lastDay.numRequests).toBe(googlePlay.lastDay.numRequests + failing.lastDay.numFailures);
    await service.callControl('/clock', { advance: 'PT3M' });
    await service.validate(keys, validate);
    expect((await fetchRows())[1]).toMatchObject({ health: 'failing', lastHour: { numFailures: expect.any(Number) } });
    await service.callControl('/clock', { advance: 'PT25H' });
    expect((await fetchRows())[1].lastDay).toEqual({ numRequests: 0, numFailures: 0 });
    expect(failing.lastFailure).toEqual({ date: expect.any(String), message: expect.stringMatching(/^The store /) });
  });
});

describe('POST /v3/stores/:platform/check', () => {
  const check = async (keys: Awaited<ReturnType<TestService['createApp']>>, platform: string) =>
    await callWithSecretKey(checkStore, keys, { params: { platform } });

  it.each(['store_a', 'apple'])('reports settings that the store accepts: %s', async (platform) => {
    const { status, body } = await check(await service.createApp(['store_a']), platform);
    expect(status).toBe(200);
    expect(body).toMatchObject({ platform: 'store_a', isConnected: true, ok: true, summary: expect.any(String) });
  });

  it('reports rejected settings with the problem and its cure', async () => {
    const keys = await service.createApp(['store_a'], { issuerId: 'unknown' });
    const { body } = await check(keys, 'store_a');
    expect(body).toMatchObject({ isConnected: true, ok: false });
    expect(body.findings).toContainEqual({
      code: expect.stringMatching(/^store-/),
      severity: 'error',
      problem: expect.any(String),
      cure: expect.any(String),
    });
    expect(JSON.stringify(body)).not.toContain('PRIVATE KEY');
  });

  it('reports a store without settings, and rejects an unknown platform', async () => {
    const keys = await service.createApp([]);
    expect((await check(keys, 'store_b')).body).toMatchObject({ isConnected: false, ok: false, findings: [] });
    expect(await check(keys, 'store_z')).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });
});
