import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { openPlayPage, type PlayBody, type PlayPage, skuDetails } from '../../testing/store-b-device.ts';

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

type Event = 'verified' | 'unverified' | 'expired' | 'owned';

/** Starts the plugin in a page as apps of its time did; `heard` waits for an event of the product. */
async function started(body: PlayBody) {
  page?.close();
  page = openPlayPage(body, skuDetails);
  const { window } = page;
  // The plugin tries again for more than two minutes before it gives up.
  const { setTimeout: later } = window;
  window.setTimeout = (callback: () => void, ms = 0) => later(callback, ms > 1000 ? ms / 100 : ms);
  const responses = answersTo(window);
  window.module = {};
  await page.load('cordova-plugin-purchase-v11/www/store-android.js');
  const { store } = window;
  store.validator = `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
  store.applicationUsername = 'ann';
  store.register({ id: 'premium', alias: 'premium', type: store.PAID_SUBSCRIPTION });
  const heard: Event[] = [];
  for (const event of ['verified', 'unverified', 'expired', 'owned'] as const) {
    store.when('premium')[event](() => heard.push(event));
  }
  store.when('premium').approved((product: { verify(): void }) => product.verify());
  store.when('premium').verified((product: { finish(): void }) => product.finish());
  store.refresh();
  return { product: store.get('premium'), heard, answers: responses };
}

/** What the page's requests are answered, as it comes. */
function answersTo({ XMLHttpRequest: { prototype } }: PlayPage['window']): readonly { ok: boolean; code?: number }[] {
  const responses: { ok: boolean; code?: number }[] = [];
  const { send } = prototype;
  prototype.send = function (body: string) {
    this.addEventListener('load', () => responses.push(JSON.parse(this.responseText)));
    send.call(this, body);
  };
  return responses;
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!isSo() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Waits until the event was heard, and fails with what was heard instead. */
async function hearing(event: Event, heard: readonly Event[]): Promise<void> {
  await until(() => heard.includes(event));
  expect(heard).toContain(event);
}

// A user of their own for each purchase: the store sells a subscription to each only once.
const bought = async () => await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID() });

describe('cordova-plugin-purchase 11.0 on a device with the Play Store', () => {
  it('owns a subscription of store_b once it is verified and acknowledged on the device', async () => {
    const { validate, expiryTime } = await bought();
    const { product, heard } = await started(validate);
    await hearing('owned', heard);
    expect(heard).toEqual(['verified', 'owned']);
    expect(product).toMatchObject({ owned: true, isExpired: false, renewalIntent: 'Renew' });
    expect(product.expiryDate.getTime()).toBe(Date.parse(expiryTime));
    expect(page?.acknowledgements).toEqual([['premium', validate.transaction.id, expect.any(String)]]);
  }, 30_000);

  it('hears that a subscription of store_b has expired, and does not own it', async () => {
    const { id, validate } = await bought();
    await owner.act(id, 'expire');
    const { product, heard } = await started(validate);
    await hearing('expired', heard);
    expect(heard).toEqual(['expired']);
    expect(product).toMatchObject({ owned: false, expired: true });
  }, 30_000);

  it('gives up in the end when the store is out of reach and nothing is known yet', async () => {
    const { validate } = await bought();
    await owner.breakStore('store_b');
    const { product, heard, answers: responses } = await started(validate);
    await hearing('unverified', heard);
    expect(heard).toEqual(['unverified']);
    expect(responses.map(({ code }) => code)).toEqual(Array(5).fill(6778002));
    expect(product.owned).toBe(false);
    expect(page?.crashes).toEqual([]);
  }, 30_000);

  it('verifies once the store is back, without being started again', async () => {
    const { validate } = await bought();
    await owner.breakStore('store_b');
    const { product, heard, answers: responses } = await started(validate);
    await until(() => responses.length > 0);
    expect(responses[0]).toMatchObject({ ok: false, code: 6778002 });
    await owner.clearFaults();
    await hearing('owned', heard);
    expect(product.owned).toBe(true);
  }, 30_000);

  it('keeps owning during an outage what was verified before', async () => {
    const { validate } = await bought();
    await hearing('owned', (await started(validate)).heard);
    await owner.breakStore('store_b');
    const { product, heard } = await started(validate);
    await hearing('owned', heard);
    expect(product).toMatchObject({ owned: true, isExpired: false });
    expect(page?.crashes).toEqual([]);
  }, 30_000);
});
