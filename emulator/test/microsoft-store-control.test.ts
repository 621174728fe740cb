import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { startEmulatorClient } from './emulator-client.ts';
import { type MicrosoftStoreClient, purchaseHost, startMicrosoftStoreClient } from './microsoft-store-client-app.ts';

let client: MicrosoftStoreClient;
beforeAll(async () => {
  client = await startMicrosoftStoreClient();
});
afterAll(() => client.close());

describe('control API of the Microsoft Store', () => {
  it('returns the settings, and validate bodies in each form', async () => {
    expect(client.settings('store_c')).toEqual({
      tenantId: expect.any(String),
      clientId: expect.any(String),
      clientSecret: expect.any(String),
      sandboxId: 'XDKS.1',
    });
    const { id } = (await client.buy({ productId: 'forms', applicationUsername: 'Ann' })).body;
    const form = async (name: string) =>
      (await client.control('GET', `/control/purchases/${id}?form=${name}`)).body.validate;
    const key = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await form('keys')).toMatchObject({
      id: 'forms',
      type: 'paid subscription',
      transaction: { type: 'store_c-transaction', storeId: 'forms' },
      license: { storeIdKey_purchases: key },
      additionalData: { applicationUsername: 'Ann' },
      billingPeriod: 1,
      billingPeriodUnit: 'Month',
    });
    expect((await form('both')).license).toEqual({ storeIdKey_collections: key, storeIdKey_purchases: key });
    expect(await form('brand')).toMatchObject({
      transaction: { type: 'windows-store-transaction' },
      license: { storeIdKey_purchase: key },
    });
    expect(await form('ticket')).not.toHaveProperty('license');
    expect(await client.control('GET', `/control/purchases/${id}?form=receipt`)).toMatchObject({ status: 400 });
  });

  test.each([
    ['down', 503, 'ServiceUnavailable'],
    ['rate-limited', 429, 'TooManyRequests'],
  ])('returns the documented error for the fault %s', async (fault, status, code) => {
    const body = { b2bKey: 'key' };
    const headers = { authorization: `Bearer ${await client.token()}` };
    await client.addFault({ fault });
    const path = `/${purchaseHost}/v8.0/b2b/recurrences/query`;
    const result = await client.call(path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(result).toMatchObject({ status, body: { code } });
  });

  it('keeps customers, subscriptions and keys over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'microsoft-store-'));
    const stateFile = join(folder, 'state.json');
    const before = await startEmulatorClient({ stateFile });
    const { id } = (await before.buy({ platform: 'store_c' })).body;
    await before.act(id, 'cancel');
    const { clientSecret } = before.settings('store_c');
    await before.close();
    const after = await startEmulatorClient({ stateFile });
    expect(after.settings('store_c').clientSecret).toBe(clientSecret);
    expect((await after.control('GET', `/control/purchases/${id}`)).body).toMatchObject({ autoRenew: false });
    await after.close();
    await rm(folder, { recursive: true });
  });
});
