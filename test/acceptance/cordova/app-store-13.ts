import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { createAppStoreDevice, premiumProduct, type ReceiptBody } from '../../../testing/app-store-device.ts';
import { type CordovaPage, openCordovaPage } from '../../../testing/cordova-page.ts';

let service: LocalService;
let page: CordovaPage | undefined;

// biome-ignore lint/suspicious/noExplicitAny: responses of the emulator are not typed.
const control = async (path: string, body: object): Promise<any> =>
  await (await fetch(`${service.emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) })).json();

const validator = () => `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;

/** Starts the plugin in a page and waits until it has verified the app's receipt. */
async function verify(receipt: ReceiptBody, username?: string) {
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

const buySubscription = async () =>
  await control('/purchases', {
    platform: 'store_a',
    productId: premiumProduct.id,
    type: 'paid subscription',
    form: 'receipt',
  });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeAppStore13(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
  });
  afterEach(() => {
    page?.close();
  });

  describe('cordova-plugin-purchase 13.18 with the App Store', () => {
    it('owns a subscription after its receipt is verified', async () => {
      const { validate } = await buySubscription();
      const { event, store } = await verify(validate, 'ann');
      expect(event).toBe('verified');
      expect(store.owned(premiumProduct.id)).toBe(true);
      const [receipt] = store.verifiedReceipts;
      expect(receipt.collection).toMatchObject([{ id: premiumProduct.id, isExpired: false, renewalIntent: 'Renew' }]);
      expect(receipt.collection[0].expiryDate).toBeGreaterThan(Date.now());
    });

    it('owns a subscription without a username', async () => {
      const { validate } = await buySubscription();
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.owned(premiumProduct.id)).toBe(true);
    });

    it('does not own an expired subscription', async () => {
      const { id } = await buySubscription();
      const { validate } = await control(`/purchases/${id}/expire`, { form: 'receipt' });
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.owned(premiumProduct.id)).toBe(false);
    });

    it('reports a rejected receipt as unverified', async () => {
      const { validate } = await buySubscription();
      const { event, payload, store } = await verify({
        ...validate,
        transaction: { id: 'none', appStoreReceipt: 'MIIBAA==' },
      });
      expect(event).toBe('unverified');
      expect(payload).toMatchObject({ payload: { code: 6778001 } });
      expect(store.owned(premiumProduct.id)).toBe(false);
    });

    it('cannot read a server endpoint because of CORS', async () => {
      page = openCordovaPage('ios', () => undefined);
      const { window } = page;
      const status = await new Promise<number>((resolve) => {
        const request = new window.XMLHttpRequest();
        request.onloadend = () => resolve(request.status);
        request.open(
          'GET',
          `${service.baseUrl}/v3/customers/ann?appName=${service.appName}&apiKey=${service.secretKey}`,
        );
        request.send();
      });
      expect(status).toBe(0);
    });
  });
}
