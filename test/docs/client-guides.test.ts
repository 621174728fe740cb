import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { JSDOM, VirtualConsole } from 'jsdom';
import { createAppStoreDevice } from '../../testing/app-store-device.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, callLocalService, type Json } from '../../testing/call-local.ts';
import { openCapacitorPage } from '../../testing/capacitor-page.ts';
import { type CordovaPage, openCordovaPage } from '../../testing/cordova-page.ts';
import { readDocument, readSnippet } from '../../testing/documents.ts';
import { openPlayPage, productDetails } from '../../testing/google-play-device.ts';
import { iapticJsSource } from '../../testing/iaptic-js.ts';
import { leaveAcknowledgementToClients } from '../../testing/leave-acknowledgement-to-clients.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const service = startBeforeAll(startLocalService);
const opened: { close(): void }[] = [];
beforeAll(async () => {
  await leaveAcknowledgementToClients(service);
});
afterEach(() => {
  for (const page of opened.splice(0)) page.close();
});

/** Replaces the example values of a page by values of the running service, like a reader. */
const fillIn = (snippet: string): string =>
  snippet
    .replaceAll('https://api.example.com', service.baseUrl)
    .replaceAll('my-app', service.appName)
    .replaceAll('pub_key', service.publicKey);

const buy = async (order: object): Promise<Json> =>
  await callLocalControl(service, '/purchases', { productId: 'premium', type: 'paid subscription', ...order });

const listProducts = async (username: string): Promise<string[]> => {
  const { body } = await callLocalService(service, `/v3/customers/${username}/purchases`);
  return Object.keys(body.purchases);
};

/** Runs the commands of blocks of a page in one shell, and returns the output of the last command as JSON. */
async function runCommands(file: string, ...names: readonly string[]): Promise<Json> {
  const env = {
    ...process.env,
    EMULATOR: service.emulatorUrl,
    API: service.baseUrl,
    APP: service.appName,
    PUBLIC: service.publicKey,
    SECRET: service.secretKey,
  };
  const commands = names.map((name) => readSnippet(file, name)).join('\n');
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], { env });
  const lines = (await text(shell.stdout)).trim().split('\n');
  return JSON.parse(lines.at(-1) ?? '');
}

const hasPremium = (page: { readonly window: { readonly document: Document } }) => (): boolean =>
  page.window.document.body.classList.contains('premium');

describe('docs/guides/cordova-plugin-purchase.md', () => {
  const file = 'docs/guides/cordova-plugin-purchase.md';

  /** Runs the code of the page in an app whose user is signed in. */
  async function run(page: CordovaPage, username: string): Promise<void> {
    opened.push(page);
    await page.load('cordova-plugin-purchase/www/store.js');
    page.window.localStorage.setItem('userId', username);
    page.window.eval(fillIn(readSnippet(file, 'app')));
    page.window.document.dispatchEvent(new page.window.Event('deviceready'));
  }

  it('gives access to a customer of the App Store, and to the server of the app', async () => {
    const { validate } = await buy({ platform: 'store_a', form: 'receipt', applicationUsername: 'carl' });
    const page = openCordovaPage('ios', createAppStoreDevice(validate));
    await run(page, 'carl');
    expect(await waitFor('access to premium', hasPremium(page))).toBe(true);
    expect(await listProducts('carl')).toEqual(['store_a:premium']);
  });

  it('gives access to a customer of Google Play, and acknowledges the purchase on the device', async () => {
    const { validate } = await buy({ platform: 'store_b', applicationUsername: 'dora' });
    const page = openPlayPage(validate as never, productDetails);
    await run(page, 'dora');
    expect(await waitFor('access to premium', hasPremium(page))).toBe(true);
    await waitFor('an acknowledgement', () => page.acknowledgements.length > 0);
    expect(await listProducts('dora')).toEqual(['store_b:premium']);
  });
});

/** Provides modules of this source to a bundle: the part of a library that needs a device. */
const provide = (modules: Readonly<Record<string, string>>): Plugin => ({
  name: 'provide',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(?:${Object.keys(modules).join('|')})$`);
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'provided' }));
    onLoad({ filter: /./, namespace: 'provided' }, ({ path }) => ({ contents: modules[path] ?? '', loader: 'js' }));
  },
});

/** Bundles the code of a page for a browser, like the build of an app. Its exports become `globalName`. */
async function bundle(file: string, modules: Readonly<Record<string, string>>, name = 'app'): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: fillIn(readSnippet(file, name)), resolveDir: resolve('.'), loader: 'js' },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'app',
    logLevel: 'silent',
    plugins: [provide(modules)],
  });
  return `${outputFiles[0]?.text}\nglobalThis.app = app;`;
}

describe('docs/guides/capacitor-plugin-cdv-purchase.md', () => {
  it('gives access with StoreKit 2, and finishes the transaction', async () => {
    const file = 'docs/guides/capacitor-plugin-cdv-purchase.md';
    const { validate } = await buy({ platform: 'store_a', form: 'signed', applicationUsername: 'emil' });
    const page = openCapacitorPage(validate as never);
    opened.push(page);
    const capacitorCore = 'export const registerPlugin = (name) => window.Capacitor.Plugins[name];';
    page.window.eval(await bundle(file, { '@capacitor/core': capacitorCore }));
    await page.window.app.startStore('emil');
    expect(await waitFor('access to premium', hasPremium(page))).toBe(true);
    await waitFor('a finished transaction', () => page.finishedIds.length > 0);
    expect(await listProducts('emil')).toEqual(['store_a:premium']);
  });
});

/** Opens a page of a web site. jsdom lacks `fetch`, so the page gets that of Node. */
function openWebPage(): CordovaPage['window'] {
  const { window } = new JSDOM('<!doctype html><body></body>', {
    url: 'https://shop.example/',
    runScripts: 'outside-only',
    virtualConsole: new VirtualConsole(),
  });
  opened.push(window);
  const visited: string[] = [];
  return Object.assign(window, { fetch, visited, navigate: (url: string) => visited.push(url) });
}

describe('docs/guides/iaptic-js.md', () => {
  const file = 'docs/guides/iaptic-js.md';

  it('sells a subscription through the checkout, and reports it after the payment', async () => {
    const { products } = await runCommands(file, 'create-product');
    expect(products).toMatchObject([{ id: 'premium', offers: [{ platform: 'processor_a' }] }]);
    const window = openWebPage();
    window.eval(await bundle(file, { 'iaptic-js': iapticJsSource }));
    const { subscribe, isSubscribed, iaptic } = window.app;
    expect(await isSubscribed()).toBe(false);
    const username = randomUUID();
    // Products of an earlier visit, which getProducts() would return.
    window.localStorage.setItem('iaptic_products', JSON.stringify({ products: [], fetchedAt: 0 }));
    await subscribe('premium', username);
    const [checkoutUrl] = window.visited;
    const sessionId = /cs_\w+/.exec(checkoutUrl)?.[0];
    expect(await isSubscribed()).toBe(false);
    await callLocalControl(service, `/checkouts/${sessionId}/pay`, {});
    expect(await isSubscribed()).toBe(true);
    await waitFor('the purchase of the customer', async () => (await listProducts(username)).length > 0);
    await iaptic.redirectToCustomerPortal({ returnUrl: 'https://shop.example/' });
    expect(window.visited).toHaveLength(2);
  });
});

describe('docs/guides/react-native-iaptic.md', () => {
  const file = 'docs/guides/react-native-iaptic.md';

  /**
   * Keeps the order of the real library, which throws before `initialize`. Purchases are validated as by version 2.1.
   */
  const library = `
    let config, username, purchases = [];
    export const IapticRN = {
      initialize: async (value) => { config = value; },
      setApplicationUsername: (value) => { if (!config) throw new Error('IapticRN.store is not initialized'); username = value; },
      loadProducts: async (products) => { config = { ...config, products }; },
      loadPurchases: async () => {
        for (const { id, type, transaction } of globalThis.device(config)) {
          const response = await fetch(config.baseUrl + '/v1/validate', {
            method: 'POST',
            headers: { Authorization: 'Basic ' + btoa(config.appName + ':' + config.publicKey), 'Content-Type': 'application/json' },
            body: JSON.stringify({ id, type, transaction, products: [], additionalData: { applicationUsername: username } }),
          });
          const { ok, data } = await response.json();
          if (ok) purchases.push(...data.collection);
        }
      },
      checkEntitlement: (entitlement) =>
        config.products.some(({ id, entitlements }) => entitlements.includes(entitlement) && purchases.some((one) => one.id === id && !one.isExpired)),
    };`;

  it.each([
    ['ios-appstore', { platform: 'store_a', form: 'receipt' }],
    ['android-playstore', { platform: 'store_b', form: 'brand' }],
  ])('grants the entitlement of a purchase: %s', async (type, order) => {
    const { validate } = await buy({ ...order, applicationUsername: randomUUID() });
    const window = openWebPage();
    window.device = ({ iosBundleId }: Json) => {
      const id = order.platform === 'store_a' ? iosBundleId : validate.id;
      return [
        {
          id,
          type: order.platform === 'store_a' ? 'application' : validate.type,
          transaction: { ...validate.transaction, type },
        },
      ];
    };
    window.eval(await bundle(file, { 'react-native-iaptic': library }));
    const username = randomUUID();
    expect(await window.app.startStore(username, false)).toBe(true);
    expect(await listProducts(username)).toEqual([`${order.platform}:premium`]);
  });
});

describe('docs/guides/flutter-expo-react-native.md', () => {
  const file = 'docs/guides/flutter-expo-react-native.md';
  const validator = readSnippet(file, 'purchase-validator');

  /** The interface that both libraries have, over a device that the test controls. */
  const library = `
    export const initConnection = async () => true;
    export const purchaseUpdatedListener = (listener) => { globalThis.deliver = listener; };
    export const purchaseErrorListener = () => {};
    export const requestPurchase = async () => {};
    export const restorePurchases = async () => {};
    export const getAvailablePurchases = async () => globalThis.available;
    export const finishTransaction = async ({ purchase }) => {
      globalThis.finished.push(purchase.id);
      if (globalThis.finishError) throw globalThis.finishError;
    };`;

  /** Opens an app. The store lists these purchases. `stored` outlives the app. */
  async function openApp(os: string, available: readonly object[], stored = new Map<string, string>()) {
    const decisions: unknown[] = [];
    const window = Object.assign(openWebPage(), { available, finished: [] as string[] });
    const modules = {
      'expo-iap': library,
      'react-native': `export const Platform = { OS: '${os}' };`,
      './purchase-validator.js': fillIn(validator),
    };
    window.eval(await bundle(file, modules, 'expo'));
    const storage = {
      getItem: async (key: string) => stored.get(key) ?? null,
      setItem: async (key: string, value: string) => void stored.set(key, value),
    };
    const record = (id: string, access: boolean) => decisions.push([id, access]);
    const start = async (
      username: string,
      types: object = { premium: 'paid subscription' },
    ): Promise<() => Promise<void>> => await window.app.startPurchases(username, types, record, storage);
    return { window, decisions, start };
  }

  it.each(['ios', 'android'])(
    'gives access until the end of a purchase, also without a network, and finishes it: %s',
    async (os) => {
      const username = randomUUID();
      const platform = os === 'ios' ? 'store_a' : 'store_b';
      const { id, validate } = await buy({
        platform,
        form: os === 'ios' ? 'signed' : undefined,
        applicationUsername: username,
      });
      const { jwsRepresentation, purchaseToken = jwsRepresentation } = validate.transaction;
      const purchase = { productId: 'premium', id: validate.transaction.id, purchaseToken };
      const stored = new Map<string, string>();
      const app = await openApp(os, [], stored);
      await app.start(username);
      await app.window.deliver({ ...purchase, purchaseState: 'pending' });
      expect(app.decisions).toEqual([]);
      await app.window.deliver(purchase);
      expect(app.decisions).toEqual([['premium', true]]);
      expect(app.window.finished).toHaveLength(1);
      expect(await listProducts(username)).toEqual([`${platform}:premium`]);

      await callLocalControl(service, `/purchases/${id}/expire`, {});
      const offline = await openApp(os, [], stored);
      offline.window.fetch = async () => await Promise.reject(new TypeError('Network request failed'));
      await offline.start(username);
      expect(offline.decisions).toEqual([['premium', true]]);
      // Google Play lists active purchases only.
      const restarted = await openApp(os, os === 'ios' ? [purchase] : [], stored);
      await restarted.start(username);
      expect(restarted.decisions).toEqual([
        ['premium', true],
        ['premium', false],
      ]);
      expect(restarted.window.finished).toHaveLength(os === 'ios' ? 1 : 0);
    },
  );

  it('decides nothing without a network, and leaves the purchase unfinished', async () => {
    const app = await openApp('ios', [{ productId: 'premium', id: '1', purchaseToken: 'x' }]);
    app.window.fetch = async () => await Promise.reject(new TypeError('Network request failed'));
    await app.start('nora');
    expect({ decisions: app.decisions, finished: app.window.finished }).toEqual({ decisions: [], finished: [] });
  });

  it('checks the other purchases and returns the restore function if the store cannot finish one', async () => {
    const username = randomUUID();
    const order = { platform: 'store_b', applicationUsername: username };
    const purchases: Json[] = [];
    for (const productId of ['premium', 'plus'])
      purchases.push({ productId, ...(await buy({ ...order, productId })).validate.transaction });
    const app = await openApp('android', purchases);
    app.window.finishError = new Error('The purchase is acknowledged.');
    const restore = await app.start(username, { premium: 'paid subscription', plus: 'paid subscription' });
    expect(app.decisions).toEqual([
      ['premium', true],
      ['plus', true],
    ]);
    await restore();
    expect(app.window.finished).toHaveLength(4);
  });

  it('decides by the latest transaction of a product: the App Store lists each one', async () => {
    const username = randomUUID();
    const order = { platform: 'store_a', form: 'signed', type: 'non consumable', applicationUsername: username };
    const listed: Json[] = [];
    for (const action of ['refund', undefined]) {
      const { id, validate } = await buy({ ...order, productId: 'lifetime' });
      if (action) await callLocalControl(service, `/purchases/${id}/${action}`, {});
      const { jwsRepresentation: purchaseToken } = validate.transaction;
      listed.unshift({ productId: 'lifetime', id, purchaseToken, transactionDate: listed.length });
    }
    const app = await openApp('ios', listed);
    await app.start(username, { lifetime: 'non consumable' });
    expect(app.decisions).toEqual([['lifetime', true]]);
  });

  it('sends the fields of a validation in Flutter', () => {
    const code = readDocument('docs/samples/purchase_observer.dart');
    for (const name of listBodyNames('validate-app-store', 'validate-google-play')) expect(code).toContain(`'${name}'`);
  });
});

/** Lists the names of members in the bodies of commands, and the types of their transactions. */
const listBodyNames = (...commands: readonly string[]): string[] =>
  commands.flatMap((command) => {
    const text = readSnippet('docs/guides/plain-app.md', command).replaceAll(/'"\$\w+"'/g, '');
    const body = JSON.parse(text.match(/\{[\s\S]+\}/)?.[0] ?? '');
    const members = [body, body.transaction, body.additionalData].flatMap(Object.keys);
    return [...members, body.transaction.type];
  });

describe('docs/guides/plain-app.md', () => {
  const file = 'docs/guides/plain-app.md';

  it('validates purchases of both stores, which the server can read', async () => {
    const signed = await runCommands(file, 'buy', 'validate-app-store');
    expect(signed).toMatchObject({ ok: true, data: { collection: [{ id: 'premium', isExpired: false }] } });
    const token = await runCommands(file, 'buy', 'validate-google-play');
    expect(token).toMatchObject({ ok: true, data: { collection: [{ id: 'premium', isExpired: false }] } });
    const { purchases } = await runCommands(file, 'read');
    expect(Object.keys(purchases).sort()).toEqual(['store_a:premium', 'store_b:premium']);

    const success = JSON.parse(readSnippet(file, 'success'));
    expect(Object.keys(signed.data)).toEqual(expect.arrayContaining(Object.keys(success.data)));
    const { id, latest_receipt, transaction, ineligible_for_intro_price } = success.data;
    expect(signed.data).toMatchObject({ id, latest_receipt, transaction, ineligible_for_intro_price });
    const [example] = success.data.collection;
    expect(Object.keys(signed.data.collection[0])).toEqual(expect.arrayContaining(Object.keys(example)));
  });

  it('generates clients by the commands that check the API document', () => {
    const commands = readSnippet(file, 'generate');
    const check = readFileSync('.ci/check-openapi', 'utf8');
    for (const text of ['oapi-codegen@v2.8.2', '-generate types,client -package'])
      for (const source of [commands, check]) expect(source).toContain(text);
  });

  it('shows the response to an expired purchase', async () => {
    const { id } = await buy({ platform: 'store_a', form: 'product', applicationUsername: 'fred' });
    const { validate } = await callLocalControl(service, `/purchases/${id}/expire`, { form: 'product' });
    const headers = buildBasicAuth(service.appName, service.publicKey);
    const response = await fetch(`${service.baseUrl}/v1/validate`, {
      method: 'POST',
      headers,
      body: JSON.stringify(validate),
    });
    expect(await response.json()).toMatchObject(JSON.parse(readSnippet(file, 'failure')));
  });

  it.each([
    ['PurchaseObserver.swift', 'validate-app-store'],
    ['PurchaseObserver.kt', 'validate-google-play'],
  ])('sends the fields of the command in %s', (sample, command) => {
    const code = readDocument(`docs/samples/${sample}`);
    for (const name of listBodyNames(command)) expect(code).toContain(`"${name}"`);
    expect(code).toContain('v1/validate');
  });
});
