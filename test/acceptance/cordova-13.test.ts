import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startLocal } from '../../local/start-local.ts';
import { type CordovaPage, openCordovaPage } from '../../testing/cordova-page.ts';
import { createAppStoreDevice, premiumProduct, type ReceiptBody } from '../../testing/store-a-device.ts';

let service: Awaited<ReturnType<typeof startLocal>>;
let page: CordovaPage | undefined;
beforeAll(async () => {
  service = await startLocal({});
}, 60_000);
afterEach(() => {
  page?.close();
});
afterAll(async () => {
  await service.close();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of the emulator are looked into, not typed.
const control = async (path: string, body: object): Promise<any> =>
  await (await fetch(`${service.emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) })).json();

const validator = () => `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;

/** Starts the plugin in a page as apps do, and waits for what comes of verifying the application's receipt. */
async function verified(receipt: ReceiptBody, username?: string) {
  page = openCordovaPage('ios', createAppStoreDevice(receipt));
  await page.load('cordova-plugin-purchase/www/store.js');
  const { CdvPurchase } = page.window;
  const { store, Platform, ProductType } = CdvPurchase;
  store.validator = validator();
  if (username !== undefined) store.applicationUsername = username;
  store.register([{ id: premiumProduct.id, platform: Platform.APPLE_APPSTORE, type: ProductType.PAID_SUBSCRIPTION }]);
  const outcome = new Promise<{ event: string; payload: unknown }>((resolve) => {
    store
      .when()
      .approved((transaction: { verify(): void }) => transaction.verify())
      .verified((payload: unknown) => resolve({ event: 'verified', payload }))
      .unverified((payload: unknown) => resolve({ event: 'unverified', payload }));
  });
  await store.initialize([Platform.APPLE_APPSTORE]);
  return { store, ...(await outcome) };
}

const bought = async () =>
  await control('/purchases', {
    platform: 'store_a',
    productId: premiumProduct.id,
    type: 'paid subscription',
    form: 'receipt',
  });

describe('cordova-plugin-purchase 13.18 in a webview', () => {
  it('owns a subscription of store_a once its receipt is verified', async () => {
    const { validate } = await bought();
    const { event, store } = await verified(validate, 'ann');
    expect(event).toBe('verified');
    expect(store.owned(premiumProduct.id)).toBe(true);
    const [receipt] = store.verifiedReceipts;
    expect(receipt.collection).toMatchObject([{ id: premiumProduct.id, isExpired: false, renewalIntent: 'Renew' }]);
    expect(receipt.collection[0].expiryDate).toBeGreaterThan(Date.now());
  }, 30_000);

  it('owns it without a username too', async () => {
    const { validate } = await bought();
    const { event, store } = await verified(validate);
    expect(event).toBe('verified');
    expect(store.owned(premiumProduct.id)).toBe(true);
  }, 30_000);

  it('does not own one that has expired', async () => {
    const { id } = await bought();
    const { validate } = await control(`/purchases/${id}/expire`, { form: 'receipt' });
    const { event, store } = await verified(validate);
    expect(event).toBe('verified');
    expect(store.owned(premiumProduct.id)).toBe(false);
  }, 30_000);

  it('hears of a receipt that is not accepted', async () => {
    const { validate } = await bought();
    const { event, payload, store } = await verified({
      ...validate,
      transaction: { id: 'none', appStoreReceipt: 'MIIBAA==' },
    });
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ payload: { code: 6778001 } });
    expect(store.owned(premiumProduct.id)).toBe(false);
  }, 30_000);

  it('is kept by CORS from what only servers may read', async () => {
    page = openCordovaPage('ios', () => undefined);
    const { window } = page;
    const status = await new Promise<number>((resolve) => {
      const request = new window.XMLHttpRequest();
      request.onloadend = () => resolve(request.status);
      request.open('GET', `${service.baseUrl}/v3/customers/ann?appName=${service.appName}&apiKey=${service.secretKey}`);
      request.send();
    });
    expect(status).toBe(0);
  });
});
