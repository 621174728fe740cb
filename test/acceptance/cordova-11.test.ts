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

/** Starts the plugin in a page as apps of its time did, and waits for the first of the events. */
async function outcomeOf(receipt: ReceiptBody, events: readonly string[], username?: string) {
  const device = createAppStoreDevice(receipt);
  page = openCordovaPage('ios', (method, args, plugin) => {
    // The payment queue hands over what is not finished once the products are known.
    if (method === 'load') setTimeout(handOver, 20);
    return device(method, args, plugin);
  });
  const { window } = page;
  const handOver = () =>
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
  const happened = new Promise<string>((resolve) => {
    store.when(premiumProduct.id).approved((product: { verify(): void }) => product.verify());
    for (const event of events) store.when(premiumProduct.id)[event](() => resolve(event));
  });
  store.refresh();
  return { event: await happened, store };
}

const bought = async () =>
  await control('/purchases', {
    platform: 'store_a',
    productId: premiumProduct.id,
    type: 'paid subscription',
    form: 'receipt',
  });

describe('cordova-plugin-purchase 11.0 in a webview', () => {
  it('verifies a subscription of store_a and knows when it expires', async () => {
    const { validate } = await bought();
    const { event, store } = await outcomeOf(validate, ['verified', 'unverified', 'expired'], 'ann');
    expect(event).toBe('verified');
    const product = store.get(premiumProduct.id);
    expect(product.expiryDate.getTime()).toBeGreaterThan(Date.now());
    expect(product).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
  }, 30_000);

  it('verifies it without a username too', async () => {
    const { validate } = await bought();
    const { event, store } = await outcomeOf(validate, ['verified', 'unverified', 'expired']);
    expect(event).toBe('verified');
    expect(store.get(premiumProduct.id)).toMatchObject({ isExpired: false });
  }, 30_000);

  it('hears that a subscription has expired', async () => {
    const { id } = await bought();
    const { validate } = await control(`/purchases/${id}/expire`, { form: 'receipt' });
    const { store } = await outcomeOf(validate, ['verified', 'expired']);
    expect(store.get(premiumProduct.id)).toMatchObject({ isExpired: true });
  }, 30_000);
});
