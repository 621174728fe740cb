import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { type CordovaPage, openCordovaPage } from '../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { enforcePreflight } from '../../testing/enforce-preflight.ts';
import { createAppStoreDevice, premiumProduct, type ReceiptBody } from '../../testing/store-a-device.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: CordovaPage | undefined;
beforeAll(async () => {
  enforcePreflight();
  service = await startLocal();
  owner = createEmulatorClient(service.emulatorUrl);
}, 60_000);
afterEach(async () => {
  page?.close();
  await owner.clearFaults();
});
afterAll(async () => await service?.close());

const validator = () => `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;

/** Starts 13.18 in a page, and waits for what comes of verifying the application's receipt. */
async function outcomeOf13(receipt: ReceiptBody) {
  page?.close();
  page = openCordovaPage('ios', createAppStoreDevice(receipt));
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = validator();
  store.applicationUsername = 'ann';
  store.register([{ id: premiumProduct.id, platform: Platform.APPLE_APPSTORE, type: ProductType.PAID_SUBSCRIPTION }]);
  const event = new Promise<string>((resolve) => {
    store
      .when()
      .approved((transaction: { verify(): void }) => transaction.verify())
      .verified(() => resolve('verified'))
      .unverified(() => resolve('unverified'));
  });
  await store.initialize([Platform.APPLE_APPSTORE]);
  return { store, event: await event };
}

/** Starts 11.0 in a page, and waits for the product to be owned, expired or given up. */
async function outcomeOf11(receipt: ReceiptBody) {
  page?.close();
  const device = createAppStoreDevice(receipt);
  page = openCordovaPage('ios', (method, args, plugin) => {
    // The payment queue hands over what is not finished once the products are known.
    if (method === 'load') setTimeout(() => handOver(receipt), 20);
    return device(method, args, plugin);
  });
  const { window } = page;
  // The plugin tries again for more than two minutes before it gives up.
  const { setTimeout: later } = window;
  window.setTimeout = (callback: () => void, ms = 0) => later(callback, ms > 1000 ? ms / 100 : ms);
  window.module = {};
  await page.load('cordova-plugin-purchase-v11/www/store-ios.js');
  const { store } = window;
  store.validator = validator();
  store.applicationUsername = 'ann';
  store.register({ id: premiumProduct.id, alias: premiumProduct.id, type: store.PAID_SUBSCRIPTION });
  const event = new Promise<string>((resolve) => {
    store.when(premiumProduct.id).approved((product: { verify(): void }) => product.verify());
    store.when(premiumProduct.id).verified((product: { finish(): void }) => product.finish());
    for (const name of ['owned', 'unverified', 'expired']) store.when(premiumProduct.id)[name](() => resolve(name));
  });
  store.refresh();
  return { product: store.get(premiumProduct.id), event: await event };
}

function handOver({ transaction: { id } }: ReceiptBody): void {
  page?.window.storekit.updatedTransactionCallback(
    'PaymentTransactionStatePurchased',
    0,
    '',
    id,
    premiumProduct.id,
    '',
    id,
  );
}

const bought = async () =>
  await owner.buy<ReceiptBody>({ platform: 'store_a', applicationUsername: randomUUID(), form: 'receipt' });

describe('a subscription of store_a in a classic receipt', () => {
  it('is owned in 13.18 until the day on which the store ends it', async () => {
    const { validate, expiresDate } = await bought();
    const { event, store } = await outcomeOf13(validate);
    expect(event).toBe('verified');
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ expiryDate: Date.parse(expiresDate) }]);
    expect(store.owned(premiumProduct.id)).toBe(true);
  }, 30_000);

  it('is owned in 11.0 until the same day', async () => {
    const { validate, expiresDate } = await bought();
    const { event, product } = await outcomeOf11(validate);
    expect(event).toBe('owned');
    expect(product).toMatchObject({ owned: true, isExpired: false });
    expect(product.expiryDate.getTime()).toBe(Date.parse(expiresDate));
  }, 30_000);

  it('is owned in 13.18 during an outage, by the signature of the store', async () => {
    const { validate, expiresDate } = await bought();
    await owner.breakStore('store_a');
    const { event, store } = await outcomeOf13(validate);
    expect(event).toBe('verified');
    const [{ collection, warning }] = store.verifiedReceipts;
    expect(collection).toMatchObject([{ isExpired: false, expiryDate: Date.parse(expiresDate) }]);
    expect(warning).toEqual(expect.any(String));
    expect(store.owned(premiumProduct.id)).toBe(true);
  }, 30_000);

  it('is owned in 11.0 during an outage, by the signature of the store', async () => {
    const { validate, expiresDate } = await bought();
    await owner.breakStore('store_a');
    const { event, product } = await outcomeOf11(validate);
    expect(event).toBe('owned');
    expect(product.expiryDate.getTime()).toBe(Date.parse(expiresDate));
  }, 30_000);
});
