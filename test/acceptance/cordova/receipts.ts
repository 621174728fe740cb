import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { createAppStoreDevice, premiumProduct, type ReceiptBody } from '../../../testing/app-store-device.ts';
import { type CordovaPage, openCordovaPage } from '../../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { enforcePreflight } from '../../../testing/enforce-preflight.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: CordovaPage | undefined;

const validator = () => `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;

/** Starts version 13.18 in a page and waits until it has verified the app's receipt. */
async function verifyIn13(receipt: ReceiptBody) {
  page?.close();
  page = openCordovaPage('ios', createAppStoreDevice(receipt));
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = validator();
  store.applicationUsername = randomUUID();
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

/** Starts version 11.0 in a page and waits until the product is owned, expired or unverified. */
async function verifyIn11(receipt: ReceiptBody) {
  page?.close();
  const device = createAppStoreDevice(receipt);
  page = openCordovaPage('ios', (method, args, plugin) => {
    // The payment queue delivers unfinished transactions after the products are loaded.
    if (method === 'load') setTimeout(() => deliverTransaction(receipt), 20);
    return device(method, args, plugin);
  });
  const { window } = page;
  // Shortens the retry delays of the plugin, which add up to more than two minutes.
  const { setTimeout: realSetTimeout } = window;
  window.setTimeout = (callback: () => void, ms = 0) => realSetTimeout(callback, ms > 1000 ? ms / 100 : ms);
  window.module = {};
  await page.load('cordova-plugin-purchase-v11/www/store-ios.js');
  const { store } = window;
  store.validator = validator();
  store.applicationUsername = randomUUID();
  store.register({ id: premiumProduct.id, alias: premiumProduct.id, type: store.PAID_SUBSCRIPTION });
  const event = new Promise<string>((resolve) => {
    store.when(premiumProduct.id).approved((product: { verify(): void }) => product.verify());
    store.when(premiumProduct.id).verified((product: { finish(): void }) => product.finish());
    for (const name of ['owned', 'unverified', 'expired']) store.when(premiumProduct.id)[name](() => resolve(name));
  });
  store.refresh();
  return { product: store.get(premiumProduct.id), event: await event };
}

function deliverTransaction({ transaction: { id } }: ReceiptBody): void {
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

const buySubscription = async () =>
  await owner.buy<ReceiptBody>({ platform: 'store_a', applicationUsername: randomUUID(), form: 'receipt' });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeReceipts(getService: () => LocalService): void {
  beforeAll(() => {
    enforcePreflight();
    service = getService();
    owner = createEmulatorClient(service.emulatorUrl);
  });
  afterEach(async () => {
    page?.close();
    await owner.clearFaults();
  });

  describe('cordova-plugin-purchase with a classic receipt of the App Store', () => {
    it('owns the subscription until its expiration date (13.18)', async () => {
      const { validate, expiresDate } = await buySubscription();
      const { event, store } = await verifyIn13(validate);
      expect(event).toBe('verified');
      expect(store.verifiedReceipts[0].collection).toMatchObject([{ expiryDate: Date.parse(expiresDate) }]);
      expect(store.owned(premiumProduct.id)).toBe(true);
    });

    it('owns the subscription until its expiration date (11.0)', async () => {
      const { validate, expiresDate } = await buySubscription();
      const { event, product } = await verifyIn11(validate);
      expect(event).toBe('owned');
      expect(product).toMatchObject({ owned: true, isExpired: false });
      expect(product.expiryDate.getTime()).toBe(Date.parse(expiresDate));
    });

    it('owns the signed subscription while the store is unavailable (13.18)', async () => {
      const { validate, expiresDate } = await buySubscription();
      await owner.breakStore('store_a');
      const { event, store } = await verifyIn13(validate);
      expect(event).toBe('verified');
      const [{ collection, warning }] = store.verifiedReceipts;
      expect(collection).toMatchObject([{ isExpired: false, expiryDate: Date.parse(expiresDate) }]);
      expect(warning).toEqual(expect.any(String));
      expect(store.owned(premiumProduct.id)).toBe(true);
    });

    it('owns the signed subscription while the store is unavailable (11.0)', async () => {
      const { validate, expiresDate } = await buySubscription();
      await owner.breakStore('store_a');
      const { event, product } = await verifyIn11(validate);
      expect(event).toBe('owned');
      expect(product.expiryDate.getTime()).toBe(Date.parse(expiresDate));
    });
  });
}
