import {
  consumableDetails,
  consumableSkuDetails,
  openPlayPage,
  type PlayBody,
  type PlayPage,
  productDetails,
  skuDetails,
} from './google-play-device.ts';

/** Type with which the app registers the product of a purchase. */
type RegisteredType = 'PAID_SUBSCRIPTION' | 'CONSUMABLE';

/** Starts version 13 of the plugin in a page and waits until it has verified the purchase on the device. */
export async function verifyWithPlugin13(
  body: PlayBody,
  validator: string,
  type: RegisteredType = 'PAID_SUBSCRIPTION',
) {
  const page = openPlayPage(body, type === 'CONSUMABLE' ? consumableDetails : productDetails);
  await page.load('cordova-plugin-purchase/www/store.js');
  const { store, Platform, ProductType } = page.window.CdvPurchase;
  store.validator = validator;
  store.applicationUsername = 'ann';
  store.register([{ id: body.id, platform: Platform.GOOGLE_PLAY, type: ProductType[type] }]);
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
  return { page, store, finished, ...(await outcome) };
}

/** Verifies again with version 13. The plugin reuses a response for two minutes, so this moves its clock. */
export async function verifyAgain({ page, store }: Awaited<ReturnType<typeof verifyWithPlugin13>>): Promise<void> {
  page.window.eval(
    'Date = class extends Date { constructor(...at) { super(...(at.length ? at : [Date.now() + 180_000])); } }',
  );
  const verified = new Promise((resolve) => store.when().verified(resolve));
  store.localReceipts[0].verify();
  await verified;
}

/** An event of a product in version 11 of the plugin. */
export type ProductEvent = 'verified' | 'unverified' | 'expired' | 'owned';

/** Starts version 11 of the plugin in a page. `events` and `responses` grow while it runs. */
export async function startPlugin11(body: PlayBody, validator: string, type: RegisteredType = 'PAID_SUBSCRIPTION') {
  const page = openPlayPage(body, type === 'CONSUMABLE' ? consumableSkuDetails : skuDetails);
  const { window } = page;
  // Shortens the retry delays of the plugin, which add up to more than two minutes.
  const { setTimeout: realSetTimeout } = window;
  window.setTimeout = (callback: () => void, ms = 0) => realSetTimeout(callback, ms > 1000 ? ms / 100 : ms);
  const responses = recordResponses(window);
  window.module = {};
  await page.load('cordova-plugin-purchase-v11/www/store-android.js');
  const { store } = window;
  store.validator = validator;
  store.applicationUsername = 'ann';
  const { id } = body;
  store.register({ id, alias: id, type: store[type] });
  const events: ProductEvent[] = [];
  for (const event of ['verified', 'unverified', 'expired', 'owned'] as const) {
    store.when(id)[event](() => events.push(event));
  }
  store.when(id).approved((product: { verify(): void }) => product.verify());
  store.when(id).verified((product: { finish(): void }) => product.finish());
  store.refresh();
  return { page, product: store.get(id), events, responses };
}

/** Records the response bodies of the page's requests. */
function recordResponses({
  XMLHttpRequest: { prototype },
}: PlayPage['window']): readonly { ok: boolean; code?: number }[] {
  const responses: { ok: boolean; code?: number }[] = [];
  const { send } = prototype;
  prototype.send = function (body: string) {
    this.addEventListener('load', () => responses.push(JSON.parse(this.responseText)));
    send.call(this, body);
  };
  return responses;
}
