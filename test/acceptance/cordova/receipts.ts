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

/** What a version of the plugin makes of a receipt. */
interface Verification {
  readonly event: string;
  readonly payload?: unknown;
  readonly isOwned: boolean;
  readonly isExpired: boolean;
  readonly renewalIntent: string | undefined;
  readonly expiresAt: number;
  readonly warning?: string;
}

/** Starts version 13.18 in a page and waits until it has verified the app's receipt. */
async function verifyIn13(receipt: ReceiptBody, username?: string): Promise<Verification> {
  page?.close();
  page = openCordovaPage('ios', createAppStoreDevice(receipt));
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = validator();
  if (username !== undefined) store.applicationUsername = username;
  store.register([{ id: premiumProduct.id, platform: Platform.APPLE_APPSTORE, type: ProductType.PAID_SUBSCRIPTION }]);
  const outcome = new Promise<{ event: string; payload?: unknown }>((resolve) => {
    store
      .when()
      .approved((transaction: { verify(): void }) => transaction.verify())
      .verified(() => resolve({ event: 'verified' }))
      .unverified(({ payload }: { payload: unknown }) => resolve({ event: 'unverified', payload }));
  });
  await store.initialize([Platform.APPLE_APPSTORE]);
  const { event, payload } = await outcome;
  const { collection: [purchase] = [], warning } = store.verifiedReceipts[0] ?? {};
  const { isExpired, renewalIntent, expiryDate: expiresAt } = purchase ?? {};
  return { event, payload, warning, isOwned: store.owned(premiumProduct.id), isExpired, renewalIntent, expiresAt };
}

/** Starts version 11.0 in a page and waits until the product is owned, expired or unverified. */
async function verifyIn11(receipt: ReceiptBody, username?: string): Promise<Verification> {
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
  if (username !== undefined) store.applicationUsername = username;
  store.register({ id: premiumProduct.id, alias: premiumProduct.id, type: store.PAID_SUBSCRIPTION });
  const outcome = new Promise<string>((resolve) => {
    store.when(premiumProduct.id).approved((product: { verify(): void }) => product.verify());
    store.when(premiumProduct.id).verified((product: { finish(): void }) => product.finish());
    for (const name of ['owned', 'unverified', 'expired']) store.when(premiumProduct.id)[name](() => resolve(name));
  });
  store.refresh();
  const event = await outcome;
  const { owned: isOwned, isExpired, renewalIntent, expiryDate } = store.get(premiumProduct.id);
  return { event, isOwned, isExpired, renewalIntent, expiresAt: expiryDate?.getTime() };
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

  describe.each([
    { version: '13.18', verify: verifyIn13, event: { ofOwned: 'verified', ofExpired: 'verified' } },
    { version: '11.0', verify: verifyIn11, event: { ofOwned: 'owned', ofExpired: 'expired' } },
  ])('cordova-plugin-purchase $version with a classic receipt of the App Store', ({ version, verify, event }) => {
    const owned = { event: event.ofOwned, isOwned: true, isExpired: false };

    it('owns the subscription until its expiration date', async () => {
      const { validate, expiresDate } = await buySubscription();
      const expected = { ...owned, renewalIntent: 'Renew', expiresAt: Date.parse(expiresDate) };
      expect(await verify(validate, randomUUID())).toMatchObject(expected);
    });

    it('owns a subscription without a username', async () => {
      expect(await verify((await buySubscription()).validate)).toMatchObject(owned);
    });

    it('does not own an expired subscription', async () => {
      const { id } = await buySubscription();
      const { validate } = await owner.act<ReceiptBody>(id, 'expire', { form: 'receipt' });
      const expired = { event: event.ofExpired, isOwned: false, isExpired: true };
      expect(await verify(validate, randomUUID())).toMatchObject(expired);
    });

    it('owns the signed subscription while the store is unavailable', async () => {
      const { validate, expiresDate } = await buySubscription();
      await owner.breakStore('store_a');
      const { warning, ...result } = await verify(validate, randomUUID());
      expect(result).toMatchObject({ ...owned, expiresAt: Date.parse(expiresDate) });
      // Version 11 does not keep the response.
      if (version !== '11.0') expect(warning).toEqual(expect.any(String));
    });
  });

  it('cordova-plugin-purchase 13.18 reports a rejected receipt as unverified', async () => {
    const { validate } = await buySubscription();
    const transaction = { ...validate.transaction, id: 'none', appStoreReceipt: 'MIIBAA==' };
    expect(await verifyIn13({ ...validate, transaction })).toMatchObject({
      event: 'unverified',
      payload: { code: 6778001 },
      isOwned: false,
    });
  });
}
