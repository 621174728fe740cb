import { afterEach, describe, expect, it } from '@jest/globals';
import { errorCodes } from '../../lib/foundation/errors.ts';
import { type ReceivedRequest, startApplicationServer } from '../../testing/application-server.ts';
import type { CordovaPage } from '../../testing/cordova-page.ts';
import { readDocument, readSample, readSnippet } from '../../testing/documents.ts';
import { openPlayPage, productDetails } from '../../testing/google-play-device.ts';
import { readCodes, readSampleRules, sampleLanguages } from '../../testing/sample-rules.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const deniedCodes: readonly number[] = [6778001, 6778003, 6778004, 6778006];
const allCodes = Object.values(errorCodes).map(({ number }) => number);

/** Bodies that the service does not send: empty, from a gateway, shortened, or from a different version. */
const faults: readonly unknown[] = [
  undefined,
  null,
  '<html>502 Bad Gateway</html>',
  [],
  0,
  {},
  { message: 'Internal server error' },
  { ok: true },
  { ok: true, data: {} },
  { ok: false },
  { ok: false, code: null },
  { ok: false, code: 0 },
  { ok: 'true', data: { collection: [{ id: 'premium' }] } },
];

const succeed = (...collection: object[]) => ({ ok: true, data: { collection } });

describe.each(sampleLanguages)('decision about access in $file, $name', (language) => {
  const { decideAccess } = readSampleRules(language);

  it.each(allCodes)('denies access only for the four definite codes: %s', (code) => {
    const expected = deniedCodes.includes(code) ? false : undefined;
    expect(decideAccess({ ok: false, status: 500, code, message: 'Text.' }, 'premium')).toBe(expected);
  });

  it.each(faults.map((fault) => [JSON.stringify(fault), fault]))('keeps the current access for %s', (_, fault) => {
    expect(decideAccess(fault, 'premium')).toBeUndefined();
  });

  it('decides by the product of a successful response', () => {
    const coins = { id: 'coins', isExpired: false };
    expect(decideAccess(succeed(coins, { id: 'premium', isExpired: false }), 'premium')).toBe(true);
    expect(decideAccess(succeed(coins, { id: 'premium', isExpired: true }), 'premium')).toBe(false);
    expect(decideAccess(succeed({ id: 'premium', isExpired: true }, { id: 'premium' }), 'premium')).toBe(true);
    expect(decideAccess(succeed(coins), 'premium')).toBe(false);
    expect(decideAccess(succeed(), 'premium')).toBe(false);
  });
});

describe('samples of the guides', () => {
  it.each([
    ['docs/samples/PurchaseObserver.swift', 'swift'],
    ['docs/samples/purchase_observer.dart', 'flutter'],
    ['docs/guides/flutter-expo-react-native.md', 'purchase-validator'],
  ])('finish purchases that have ended: %s %s', (file, name) => {
    expect(readCodes(readSample(file, name), 'endedCodes')).toEqual([6778003, 6778004]);
  });

  it.each([
    ['docs/guides/cordova-plugin-purchase.md', 'app'],
    ['docs/guides/capacitor-plugin-cdv-purchase.md', 'app'],
    ['docs/guides/react-native-iaptic.md', 'app'],
  ])('contain the definite codes: %s %s', (file, name) => {
    expect(readCodes(readSnippet(file, name), 'deniedCodes')).toEqual(deniedCodes);
  });

  it('contain the same decision in JavaScript', () => {
    const [rule] = /function decideAccess[\s\S]+\}/.exec(readSnippet('docs/guides/plain-app.md', 'rule')) ?? [];
    expect(readSnippet('docs/guides/flutter-expo-react-native.md', 'purchase-validator')).toContain(rule);
  });

  it('implement the interfaces of StoreKit 2 in Swift', () => {
    const code = readDocument('docs/samples/PurchaseObserver.swift');
    for (const text of [
      'Product.PurchaseResult',
      'case .success',
      'case .pending',
      'case .userCancelled',
      'Transaction.updates',
    ])
      expect(code).toContain(text);
  });

  it('call the app on its main thread, where it can change what it shows', () => {
    expect(readDocument('docs/samples/PurchaseObserver.swift')).toContain('@MainActor\nstruct PurchaseObserver');
    const code = readDocument('docs/samples/PurchaseObserver.kt');
    expect(code).toContain('mainThread = Handler(Looper.getMainLooper())');
    expect(code).toMatch(/mainThread\.post \{ .*onAccess\(/);
  });

  it('validate each product of a purchase in Kotlin, with a type of either kind, and finish it', () => {
    const code = readDocument('docs/samples/PurchaseObserver.kt');
    expect(code).toContain('purchase.products.associateWith');
    expect(code).toContain('.put("type", type)');
    for (const text of ['enablePendingPurchases', 'queryPurchasesAsync', 'acknowledgePurchase', 'consumeAsync'])
      expect(code).toContain(text);
  });
});

describe('docs/guides/cordova-plugin-purchase.md', () => {
  const file = 'docs/guides/cordova-plugin-purchase.md';
  const server = startBeforeAll(startApplicationServer);
  const opened: CordovaPage[] = [];
  afterEach(() => {
    for (const page of opened.splice(0)) page.close();
  });

  const playBody = {
    id: 'premium',
    transaction: {
      id: 'GPA.1',
      receipt: JSON.stringify({ productId: 'premium', purchaseToken: 'token', purchaseState: 0, quantity: 1 }),
      signature: '',
    },
  };

  type Respond = (request: Pick<ReceivedRequest, 'path'>) => { readonly status: number; readonly body: string };

  /** Responds like the service: any origin can read the response. */
  const respondWith = (respond: Respond): void =>
    server.respondWith((request) => ({
      ...respond(request),
      headers: { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'content-type' },
    }));

  /** Starts the app of the guide with access, and returns whether it has access after the validation. */
  async function restartWithAccess(url = server.url): Promise<boolean> {
    const page = openPlayPage(playBody as never, productDetails);
    opened.push(page);
    await page.load('cordova-plugin-purchase/www/store.js');
    page.window.localStorage.setItem('userId', 'dora');
    page.window.localStorage.setItem('premium of dora', 'true');
    page.window.eval(readSnippet(file, 'app').replaceAll('https://api.example.com', url));
    page.window.document.dispatchEvent(new page.window.Event('deviceready'));
    // The callbacks of the app come first, because they are registered first.
    await new Promise((resolve) => page.window.CdvPurchase.store.when().unverified(resolve).verified(resolve));
    return page.window.document.body.classList.contains('premium');
  }

  it('decides by the code in the plugin', async () => {
    respondWith(({ path }) => {
      const code = Number(path.split('/')[1]);
      const data = { code, latest_receipt: true };
      return { status: 200, body: JSON.stringify({ ok: false, status: 500, code, message: 'Text.', data }) };
    });
    // At the same time: the plugin waits before each validation.
    const decisions = await Promise.all(
      allCodes.map(async (code) => [code, await restartWithAccess(`${server.url}/${code}`)]),
    );
    expect(decisions).toEqual(allCodes.map((code) => [code, !deniedCodes.includes(code)]));
  });

  it.each([
    ['an error of a gateway', { status: 502, body: '<html>502 Bad Gateway</html>' }],
    ['a rate limit', { status: 429, body: '{"message":"Too Many Requests"}' }],
    ['a body that is no JSON', { status: 200, body: '<html>' }],
  ])('keeps the access in the plugin after %s', async (_, response) => {
    respondWith(() => response);
    expect(await restartWithAccess()).toBe(true);
  });

  it('removes the access of a purchase that is expired', async () => {
    const [purchase] = [{ id: 'premium', purchaseId: 'GPA.1', transactionId: 'GPA.1', isExpired: true }];
    const data = { id: 'premium', latest_receipt: true, transaction: {}, collection: [purchase] };
    respondWith(() => ({ status: 200, body: JSON.stringify({ ok: true, data }) }));
    expect(await restartWithAccess()).toBe(false);
  });
});
