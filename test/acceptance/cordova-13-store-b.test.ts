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
});
afterEach(async () => {
  page?.close();
  await owner.clearFaults();
});
afterAll(async () => await service?.close());

/** Starts the plugin in a page and waits until it has verified the purchase on the device. */
async function verify(body: PlayBody) {
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

// A new user for each purchase: the store sells a subscription only once to the same user.
const buySubscription = async () =>
  await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID() });

describe('cordova-plugin-purchase 13.18 with store_b', () => {
  it('owns a subscription until its expiration date', async () => {
    const { validate, expiryTime } = await buySubscription();
    const { event, store } = await verify(validate);
    expect(event).toBe('verified');
    expect(store.owned('premium')).toBe(true);
    const [receipt] = store.verifiedReceipts;
    expect(receipt.id).toBe('premium');
    expect(receipt.collection).toMatchObject([
      { id: 'premium', isExpired: false, renewalIntent: 'Renew', expiryDate: Date.parse(expiryTime) },
    ]);
  });

  it('acknowledges an unacknowledged purchase on the device', async () => {
    const { validate } = await buySubscription();
    const { store, finished } = await verify(validate);
    expect(await finished).toMatchObject({ state: 'finished' });
    const { purchaseToken } = JSON.parse(validate.transaction.receipt);
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ isAcknowledged: false }]);
    expect(page?.acknowledgements).toEqual([[purchaseToken]]);
  });

  it('does not own an expired subscription', async () => {
    const { id, validate } = await buySubscription();
    await owner.act(id, 'expire');
    const { event, payload, store } = await verify(validate);
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778003 });
    expect(store.owned('premium')).toBe(false);
  });

  it('does not own a subscription after it has expired while the app runs', async () => {
    const { id, validate } = await buySubscription();
    const { store } = await verify(validate);
    expect(store.owned('premium')).toBe(true);
    await owner.act(id, 'expire');
    // The plugin caches a response for two minutes.
    page?.window.eval(
      'Date = class extends Date { constructor(...at) { super(...(at.length ? at : [Date.now() + 180_000])); } }',
    );
    const verifiedAgain = new Promise((resolve) => store.when().verified(resolve));
    store.localReceipts[0].verify();
    await verifiedAgain;
    expect(store.verifiedReceipts[0].collection).toMatchObject([{ id: 'premium', isExpired: true }]);
    expect(store.owned('premium')).toBe(false);
  });

  it('does not own an unverified subscription if the store is unavailable', async () => {
    const { validate } = await buySubscription();
    await owner.breakStore('store_b');
    const { event, payload, store } = await verify(validate);
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778002 });
    expect(store.owned('premium')).toBe(false);
    expect(page?.crashes).toEqual([]);
  });

  it('owns a verified subscription while the store is unavailable', async () => {
    const { validate } = await buySubscription();
    await verify(validate);
    await owner.breakStore('store_b');
    const { event, store } = await verify(validate);
    expect(event).toBe('verified');
    expect(store.verifiedReceipts[0].warning).toEqual(expect.any(String));
    expect(store.owned('premium')).toBe(true);
    expect(page?.crashes).toEqual([]);
  });

  it('does not own a subscription whose receipt does not match its signature', async () => {
    const { validate } = await buySubscription();
    const receipt = validate.transaction.receipt.replace('"quantity":1', '"quantity":2');
    const { event, payload, store } = await verify({
      ...validate,
      transaction: { ...validate.transaction, receipt },
    });
    expect(event).toBe('unverified');
    expect(payload).toMatchObject({ ok: false, code: 6778001 });
    expect(store.owned('premium')).toBe(false);
  });
});
