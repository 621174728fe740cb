import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getApp } from '../../lib/apps/contract.ts';
import { changeSettings, setCatalogue } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/container.ts';
import { setWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('GET /v3/app', () => {
  it('returns the settings of the app and the stores that it is connected to', async () => {
    const keys = await service.createApp(['store_a', 'processor_b']);
    const catalogue = { gold: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    await setCatalogue(getService(), keys.appName, catalogue);
    await changeSettings(getService(), keys.appName, { strategy: 'last' });
    const { status, body } = await callWithSecretKey(getApp, keys);
    expect(status).toBe(200);
    expect(body).toMatchObject({ appName: keys.appName, strategy: 'last', vocabulary: 'neutral', catalogue });
    const connected = body.stores.filter(({ isConnected }: { isConnected: boolean }) => isConnected);
    expect(connected).toEqual([
      {
        platform: 'store_a',
        isConnected: true,
        notificationUrl: `https://api.example.com/live/v3/webhook/store_a/${keys.appName}`,
      },
      {
        platform: 'processor_b',
        isConnected: true,
        notificationUrl: `https://api.example.com/live/v3/webhook/processor_b/${keys.appName}`,
      },
    ]);
    expect(body.stores.find(({ platform }: { platform: string }) => platform === 'store_c')).toEqual({
      platform: 'store_c',
      isConnected: false,
    });
    expect(body.service).toEqual({ version: expect.any(String), emulatorUrl: service.emulatorUrl });
  });

  it('lists the products that have figures only on request', async () => {
    const keys = await service.createApp([]);
    const catalogue = { 'store_a:premium': { type: 'paid subscription' }, unsold: { type: 'consumable' } } as const;
    await setCatalogue(getService(), keys.appName, catalogue);
    const { purchase } = createObservation({ purchaseId: 'store_a:1', productId: 'store_a:premium' });
    const transactions = [createTransaction(purchase)];
    await givenPurchase(keys.appName, 'ann', { asOf: Date.now(), purchase, transactions, userAliases: [] });
    const query = { include_products: 'true' };
    expect((await callWithSecretKey(getApp, keys, { query })).body.productIds).toEqual(['store_a:premium']);
    expect((await callWithSecretKey(getApp, keys)).body).not.toHaveProperty('productIds');
  });

  it('returns webhook URLs without their credentials', async () => {
    const keys = await service.createApp([]);
    const secret = 'a-token-of-more-than-25-characters';
    const urls = [`https://example.com/hooks/${secret}?key=${secret}`];
    await setWebhook(
      keys.appName,
      { urls, sandboxUrls: [], includesPassword: false },
      { newSecret: false, service: getService() },
    );
    const { body } = await callWithSecretKey(getApp, keys);
    expect(body.webhooks).toEqual({
      urls: ['https://example.com/hooks/…'],
      sandboxUrls: [],
      includesPassword: false,
      events: [],
    });
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('contains neither keys nor store settings', async () => {
    const keys = await service.createApp(['store_a', 'store_b', 'processor_a']);
    const text = JSON.stringify((await callWithSecretKey(getApp, keys)).body);
    expect(text).not.toContain(keys.secretKey);
    expect(text).not.toMatch(/PRIVATE KEY|sk_test|whsec_/);
  });
});
