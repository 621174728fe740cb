import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { openPlayPage, type PlayBody, type PlayPage, productDetails } from '../../testing/store-b-device.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: PlayPage | undefined;
beforeAll(async () => {
  service = await startLocal();
  owner = createEmulatorClient(service.emulatorUrl);
}, 60_000);
afterEach(async () => {
  page?.close();
  await owner.clearFaults();
});
afterAll(async () => await service?.close());

/** Starts the plugin in a page as apps do, and waits for what comes of verifying the purchase on the device. */
async function outcomeOf(body: PlayBody) {
  page?.close();
  page = openPlayPage(body, productDetails);
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
  store.applicationUsername = 'ann';
  store.register([{ id: 'premium', platform: Platform.GOOGLE_PLAY, type: ProductType.PAID_SUBSCRIPTION }]);
  const outcome = new Promise<{ event: string; payload: unknown }>((resolve) => {
    store
      .when()
      .approved((transaction: { verify(): void }) => transaction.verify())
      .verified((receipt: { finish(): void }) => {
        receipt.finish();
        resolve({ event: 'verified', payload: undefined });
      })
      .unverified(({ payload }: { payload: unknown }) => resolve({ event: 'unverified', payload }));
  });
  const finished = new Promise<{ state: string }>((resolve) => store.when().finished(resolve));
  await store.initialize([Platform.GOOGLE_PLAY]);
  return { store, finished, ...(await outcome) };
}

// A user of their own for each purchase: the store sells a subscription to each only once.
const bought = async () => await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID() });

describe('cordova-plugin-purchase 13.18 on a device with the Play Store', () => {
  it('owns a subscription of store_b until the day on which the store ends it', async () => {
    const { validate, expiryTime } = await bought();
    const { event, store } = await outcomeOf(validate);
    expect(event).toBe('verified');
    expect(store.owned('premium')).toBe(true);
    const [receipt] = store.verifiedReceipts;
    expect(receipt.id).toBe('premium');
    expect(receipt.collection).toMatchObject([
      { id: 'premium', isExpired: false, renewalIntent: 'Renew', expiryDate: Date.parse(expiryTime) },
    ]);
  }, 30_000);

  it('acknowledges on the device a purchase that is not acknowledged yet', async () => {
    const { validate } = await bought();
    const { store, finished } = await outcomeOf(validate);
    expect(await finished).toMatchObject({ state: 'finished' });
    const { purchaseToken } = JSON.parse(validate.transaction.receipt);
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ isAcknowledged: false }]);
    expect(page?.acknowledgements).toEqual([[purchaseToken]]);
  }, 30_000);

  it('is told that a subscription of store_b has expired, and does not own it', async () => {
    const { id, validate } = await bought();
    await owner.act(id, 'expire');
    const { event, payload, store } = await outcomeOf(validate);
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778003 });
    expect(store.owned('premium')).toBe(false);
  }, 30_000);

  it('stops owning a subscription that expires while the app runs', async () => {
    const { id, validate } = await bought();
    const { store } = await outcomeOf(validate);
    expect(store.owned('premium')).toBe(true);
    await owner.act(id, 'expire');
    // The plugin keeps an answer for two minutes.
    page?.window.eval(
      'Date = class extends Date { constructor(...at) { super(...(at.length ? at : [Date.now() + 180_000])); } }',
    );
    const verifiedAgain = new Promise((resolve) => store.when().verified(resolve));
    store.localReceipts[0].verify();
    await verifiedAgain;
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ id: 'premium', isExpired: true }]);
    expect(store.owned('premium')).toBe(false);
  }, 30_000);

  it('is told that the store is out of reach when nothing is known yet', async () => {
    const { validate } = await bought();
    await owner.breakStore('store_b');
    const { event, payload, store } = await outcomeOf(validate);
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778002 });
    expect(store.owned('premium')).toBe(false);
    expect(page?.crashes).toEqual([]);
  }, 30_000);

  it('keeps owning during an outage what was verified before', async () => {
    const { validate } = await bought();
    await outcomeOf(validate);
    await owner.breakStore('store_b');
    const { event, store } = await outcomeOf(validate);
    expect(event).toBe('verified');
    expect(store.verifiedReceipts[0].warning).toEqual(expect.any(String));
    expect(store.owned('premium')).toBe(true);
    expect(page?.crashes).toEqual([]);
  }, 30_000);

  it('does not believe a receipt whose signature is not of it', async () => {
    const { validate } = await bought();
    const receipt = validate.transaction.receipt.replace('"quantity":1', '"quantity":2');
    const { event, payload, store } = await outcomeOf({
      ...validate,
      transaction: { ...validate.transaction, receipt },
    });
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778001 });
    expect(store.owned('premium')).toBe(false);
  }, 30_000);
});
