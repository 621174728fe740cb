import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import type { CordovaPage } from '../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { openStoreKit2Page, type SignedBody } from '../../testing/storekit-2-device.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: CordovaPage | undefined;
beforeAll(async () => {
  service = await startLocal();
  owner = createEmulatorClient(service.emulatorUrl);
}, 60_000);
afterEach(async () => {
  page?.close();
  await owner.clearFaults();
});
afterAll(async () => await service?.close());

/** Starts the plugin in a page as apps do, and waits for what comes of verifying what StoreKit hands over. */
async function outcomeOf(...bodies: readonly SignedBody[]) {
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

const bought = async (applicationUsername: string = randomUUID(), productId = 'premium') =>
  await owner.buy<SignedBody>({ platform: 'store_a', applicationUsername, productId, form: 'signed' });

describe('cordova-plugin-purchase 13.18 on a device with StoreKit 2', () => {
  it('owns a subscription of store_a until the day on which the store ends it', async () => {
    const { validate, expiresDate } = await bought();
    const { event, store } = await outcomeOf(validate);
    expect(event).toBe('verified');
    expect(store.owned('premium')).toBe(true);
    const [receipt] = store.verifiedReceipts;
    expect(receipt.id).toBe(validate.id);
    expect(receipt.nativeTransactions).toMatchObject([{ type: 'apple-sk2' }]);
    expect(receipt.collection).toMatchObject([
      { id: 'premium', isExpired: false, renewalIntent: 'Renew', expiryDate: Date.parse(expiresDate) },
    ]);
  }, 30_000);

  it('does not own one that has expired', async () => {
    const { id, validate } = await bought();
    await owner.act(id, 'expire');
    const { event, store } = await outcomeOf(validate);
    expect(event).toBe('verified');
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ id: 'premium', isExpired: true }]);
    expect(store.owned('premium')).toBe(false);
  }, 30_000);

  it('owns everything that the user has, though it sends one transaction', async () => {
    const user = randomUUID();
    const first = await bought(user);
    const second = await bought(user, 'news');
    const { store } = await outcomeOf(first.validate, second.validate);
    expect(store.verifiedReceipts).toHaveLength(1);
    expect(store.owned('premium')).toBe(true);
    expect(store.owned('news')).toBe(true);
  }, 30_000);

  it('owns during an outage what the store has signed', async () => {
    const { validate } = await bought();
    await owner.breakStore('store_a');
    const { event, store } = await outcomeOf(validate);
    expect(event).toBe('verified');
    expect(store.verifiedReceipts[0].warning).toEqual(expect.any(String));
    expect(store.owned('premium')).toBe(true);
  }, 30_000);

  it('does not believe a transaction that was changed after it was signed', async () => {
    const { validate } = await bought();
    const [header, payload = '', signature] = validate.transaction.jwsRepresentation.split('.');
    const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), expiresDate: 4_102_444_800_000 };
    const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
    const {
      event,
      payload: result,
      store,
    } = await outcomeOf({
      ...validate,
      transaction: { ...validate.transaction, jwsRepresentation: [header, forged, signature].join('.') },
    });
    expect(event).toBe('unverified');
    expect(result).toMatchObject({ ok: false, code: 6778001 });
    expect(store.owned('premium')).toBe(false);
  }, 30_000);
});
