import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import type { CordovaPage } from '../../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { openStoreKit2Page, type SignedBody } from '../../../testing/storekit-2-device.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: CordovaPage | undefined;

/** Starts the plugin in a page and waits until it has verified the transactions of StoreKit. */
async function verify(...bodies: readonly SignedBody[]) {
  page?.close();
  page = openStoreKit2Page(bodies);
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
  store.applicationUsername = 'ann';
  for (const id of ['premium', 'news']) {
    store.register([{ id, platform: Platform.APPLE_APPSTORE, type: ProductType.PAID_SUBSCRIPTION }]);
  }
  const outcome = new Promise<{ event: string; payload: unknown }>((resolve) => {
    store
      .when()
      .approved((transaction: { verify(): void }) => transaction.verify())
      .verified(() => resolve({ event: 'verified', payload: undefined }))
      .unverified(({ payload }: { payload: unknown }) => resolve({ event: 'unverified', payload }));
  });
  await store.initialize([Platform.APPLE_APPSTORE]);
  return { store, ...(await outcome) };
}

const buySubscription = async (applicationUsername: string = randomUUID(), productId = 'premium') =>
  await owner.buy<SignedBody>({ platform: 'store_a', applicationUsername, productId, form: 'signed' });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeStoreKit2(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
    owner = createEmulatorClient(service.emulatorUrl);
  });
  afterEach(async () => {
    page?.close();
    await owner.clearFaults();
  });

  describe('cordova-plugin-purchase 13.18 with StoreKit 2', () => {
    it('owns a subscription until its expiration date', async () => {
      const { validate, expiresDate } = await buySubscription();
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.owned('premium')).toBe(true);
      const [receipt] = store.verifiedReceipts;
      expect(receipt.id).toBe(validate.id);
      expect(receipt.nativeTransactions).toMatchObject([{ type: 'apple-sk2' }]);
      expect(receipt.collection).toMatchObject([
        { id: 'premium', isExpired: false, renewalIntent: 'Renew', expiryDate: Date.parse(expiresDate) },
      ]);
    });

    it('does not own an expired subscription', async () => {
      const { id, validate } = await buySubscription();
      await owner.act(id, 'expire');
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.verifiedReceipts[0].collection).toMatchObject([{ id: 'premium', isExpired: true }]);
      expect(store.owned('premium')).toBe(false);
    });

    it('owns all purchases of the customer after the validation of one transaction', async () => {
      const user = randomUUID();
      const first = await buySubscription(user);
      const second = await buySubscription(user, 'news');
      const { store } = await verify(first.validate, second.validate);
      expect(store.verifiedReceipts).toHaveLength(1);
      expect(store.owned('premium')).toBe(true);
      expect(store.owned('news')).toBe(true);
    });

    it('owns a subscription with a signed transaction while the store is unavailable', async () => {
      const { validate } = await buySubscription();
      await owner.breakStore('store_a');
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.verifiedReceipts[0].warning).toEqual(expect.any(String));
      expect(store.owned('premium')).toBe(true);
    });

    it('does not own a subscription whose transaction was changed after signing', async () => {
      const { validate } = await buySubscription();
      const [header, payload = '', signature] = validate.transaction.jwsRepresentation.split('.');
      const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), expiresDate: 4_102_444_800_000 };
      const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
      const {
        event,
        payload: result,
        store,
      } = await verify({
        ...validate,
        transaction: { ...validate.transaction, jwsRepresentation: [header, forged, signature].join('.') },
      });
      expect(event).toBe('unverified');
      expect(result).toMatchObject({ ok: false, code: 6778001 });
      expect(store.owned('premium')).toBe(false);
    });
  });
}
