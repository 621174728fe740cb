import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { createAppStoreDevice, premiumProduct, type ReceiptBody } from '../../../testing/app-store-device.ts';
import { type CordovaPage, openCordovaPage } from '../../../testing/cordova-page.ts';

let service: LocalService;
let page: CordovaPage | undefined;

// biome-ignore lint/suspicious/noExplicitAny: responses of the emulator are not typed.
const control = async (path: string, body: object): Promise<any> =>
  await (await fetch(`${service.emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) })).json();

/** Starts the plugin in a page and waits for the first of the events. */
async function awaitFirstEvent(receipt: ReceiptBody, events: readonly string[], username?: string) {
  const device = createAppStoreDevice(receipt);
  page = openCordovaPage('ios', (method, args, plugin) => {
    // The payment queue delivers unfinished transactions after the products are loaded.
    if (method === 'load') setTimeout(deliverTransaction, 20);
    return device(method, args, plugin);
  });
  const { window } = page;
  const deliverTransaction = () =>
    window.storekit.updatedTransactionCallback(
      'PaymentTransactionStatePurchased',
      0,
      '',
      receipt.transaction.id,
      premiumProduct.id,
      '',
      receipt.transaction.id,
    );
  window.module = {};
  await page.load('cordova-plugin-purchase-v11/www/store-ios.js');
  const { store } = window;
  store.validator = `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
  if (username !== undefined) store.applicationUsername = username;
  store.register({ id: premiumProduct.id, alias: premiumProduct.id, type: store.PAID_SUBSCRIPTION });
  const firstEvent = new Promise<string>((resolve) => {
    store.when(premiumProduct.id).approved((product: { verify(): void }) => product.verify());
    for (const event of events) store.when(premiumProduct.id)[event](() => resolve(event));
  });
  store.refresh();
  return { event: await firstEvent, store };
}

const buySubscription = async () =>
  await control('/purchases', {
    platform: 'store_a',
    productId: premiumProduct.id,
    type: 'paid subscription',
    form: 'receipt',
  });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeAppStore11(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
  });
  afterEach(() => {
    page?.close();
  });

  describe('cordova-plugin-purchase 11.0 with the App Store', () => {
    it('verifies a subscription and reports its expiration date', async () => {
      const { validate } = await buySubscription();
      const { event, store } = await awaitFirstEvent(validate, ['verified', 'unverified', 'expired'], 'ann');
      expect(event).toBe('verified');
      const product = store.get(premiumProduct.id);
      expect(product.expiryDate.getTime()).toBeGreaterThan(Date.now());
      expect(product).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
    });

    it('verifies a subscription without a username', async () => {
      const { validate } = await buySubscription();
      const { event, store } = await awaitFirstEvent(validate, ['verified', 'unverified', 'expired']);
      expect(event).toBe('verified');
      expect(store.get(premiumProduct.id)).toMatchObject({ isExpired: false });
    });

    it('reports an expired subscription', async () => {
      const { id } = await buySubscription();
      const { validate } = await control(`/purchases/${id}/expire`, { form: 'receipt' });
      const { store } = await awaitFirstEvent(validate, ['verified', 'expired']);
      expect(store.get(premiumProduct.id)).toMatchObject({ isExpired: true });
    });
  });
}
