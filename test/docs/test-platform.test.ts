import { describe, expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, callLocalService } from '../../testing/call-local.ts';
import { openCordovaPage } from '../../testing/cordova-page.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startLocalService);

/** Validates a purchase of the test platform, like the sample of the guide. */
async function validate(transactionId: string, changes: object = {}) {
  const response = await fetch(`${service.baseUrl}/v1/validate`, {
    method: 'POST',
    headers: buildBasicAuth(service.appName, service.publicKey),
    body: JSON.stringify({
      id: 'test-subscription',
      type: 'paid subscription',
      transaction: { type: 'test', id: transactionId },
      additionalData: { applicationUsername: 'pia' },
      ...changes,
    }),
  });
  return (await response.json()) as { ok: boolean; code?: number; data: { collection?: { purchaseId: string }[] } };
}

describe('docs/guides/cordova-plugin-purchase.md', () => {
  it('validates a purchase of Platform.TEST of the plugin with the service', async () => {
    const page = openCordovaPage('android', () => undefined);
    Object.assign(page.window, { fetch, prompt: () => 'Y' });
    await page.load('cordova-plugin-purchase/www/store.js');
    const { store, Platform, ProductType } = page.window.CdvPurchase;
    page.window.eval(readSnippet('docs/guides/cordova-plugin-purchase.md', 'test-platform'));
    store.validator = `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
    store.applicationUsername = 'tess';
    store.register([{ id: 'test-subscription', platform: Platform.TEST, type: ProductType.PAID_SUBSCRIPTION }]);
    const verified = new Promise((resolve) => {
      store
        .when()
        .approved((transaction: { verify(): void }) => transaction.verify())
        .verified(resolve);
    });
    await store.initialize([Platform.TEST]);
    store.get('test-subscription', Platform.TEST).getOffer().order();
    await verified;
    expect(store.owned({ id: 'test-subscription', platform: Platform.TEST })).toBe(true);
    page.close();
    const { body } = await callLocalService(service, '/v3/customers/tess/purchases');
    expect(body.purchases['store_a:test-subscription']).toMatchObject({ isExpired: false });
  });
});

describe('npm start', () => {
  it('validates a purchase of the test platform of the plugins, once for each customer', async () => {
    const { ok, data } = await validate('payment-1');
    expect({ ok, collection: data.collection }).toMatchObject({
      ok: true,
      collection: [{ id: 'test-subscription', isExpired: false }],
    });
    const repeated = await validate('payment-2');
    expect(repeated.data.collection?.map(({ purchaseId }) => purchaseId)).toEqual(
      data.collection?.map(({ purchaseId }) => purchaseId),
    );
    const { body } = await callLocalService(service, '/v3/customers/pia/purchases');
    expect(Object.keys(body.purchases)).toEqual(['store_a:test-subscription']);
  });

  it('changes a test purchase by the actions of the emulator', async () => {
    const { data } = await validate('payment-3', { additionalData: { applicationUsername: 'rob' } });
    await callLocalControl(service, `/purchases/${data.collection?.[0]?.purchaseId}/refund`, {});
    expect(await validate('payment-3', { additionalData: { applicationUsername: 'rob' } })).toMatchObject({
      ok: false,
      code: 6778003,
    });
  });

  it('buys a consumable once for each transaction', async () => {
    const consumable = { id: 'test-consumable', type: 'consumable' };
    const ids = [];
    for (const transaction of ['payment-4', 'payment-5', 'payment-4'])
      ids.push((await validate(transaction, consumable)).data.collection?.find(Boolean)?.purchaseId);
    expect(new Set(ids).size).toBe(2);
  });

  it('rejects a test purchase that is incomplete', async () => {
    expect(await validate('', {})).toMatchObject({ ok: false, code: 6778001 });
  });

  it('leads from its address to the console', async () => {
    const response = await fetch(service.baseUrl);
    expect({ url: response.url, status: response.status }).toEqual({ url: `${service.baseUrl}/console`, status: 200 });
  });
});
