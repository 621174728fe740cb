import { describe, expect, it } from '@jest/globals';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import {
  buildAppTransactionPayload,
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
  dayMs,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signJws, signMessage } from '../../../../testing/apple-signatures.ts';
import {
  applePki,
  createAppStore,
  createContext,
  createSignedRequest,
  createSubscriber,
  failFetch,
  validateSignedTransaction,
} from '../../../../testing/fake-apple.ts';

const coin = (id: string, changes: object = {}) =>
  buildOneTimePayload('Consumable', { transactionId: id, originalTransactionId: id, ...changes });

const onlySettings = { settings: { bundleId } };

describe('what a request to store_a is about', () => {
  const owned = {
    transactions: [buildTransactionPayload(), coin('2001')],
    statuses: createSubscriber(1).statuses ?? [],
  };
  const about = async (request: object, payload: object = buildTransactionPayload()) => {
    const { id, scope, purchaseId } = await validateSignedTransaction(owned, payload, { request });
    return { id, about: scope, purchaseId };
  };

  it('is the application when its type or its id says so; its signed transaction then names the purchase', async () => {
    const application = { id: bundleId, about: 'application', purchaseId: 'store_a:1001' };
    expect(await about({})).toEqual(application);
    expect(await about({ id: 'the name of the app' })).toEqual(application);
    expect(await about({ type: 'paid subscription' })).toEqual(application);
  });

  it('is the product when it names one', async () => {
    expect(await about({ id: 'monthly', type: 'paid subscription' })).toEqual({
      id: 'monthly',
      about: 'product',
      purchaseId: 'store_a:1001',
    });
  });

  it('is another product of the account than the signed one, when it names that', async () => {
    expect(await about({ id: 'consumable', type: 'consumable' })).toMatchObject({ purchaseId: 'store_a:2001' });
  });

  it('is no purchase when the account does not hold the product', async () => {
    expect(await about({ id: 'yearly', type: 'paid subscription' })).toMatchObject({
      about: 'product',
      purchaseId: undefined,
    });
  });

  it('is not the product that the customer has changed from', async () => {
    const yearly = buildTransactionPayload({
      transactionId: '1002',
      productId: 'yearly',
      purchaseDate: purchaseDate + dayMs,
    });
    const { purchaseId } = await validateSignedTransaction(createSubscriber(1, yearly), buildTransactionPayload(), {
      request: { id: 'monthly', type: 'paid subscription' },
    });
    expect(purchaseId).toBeUndefined();
  });

  it('is, of several purchases of a consumable, the one that the client signed or names', async () => {
    const coins = {
      transactions: [
        coin('2001'),
        coin('2002', { purchaseDate: purchaseDate + dayMs, originalPurchaseDate: purchaseDate + dayMs }),
        coin('2003'),
      ],
    };
    const request = { id: 'consumable', type: 'consumable' } as const;
    expect((await validateSignedTransaction(coins, coin('2003'), { request })).purchaseId).toBe('store_a:2003');
    const named = {
      ...request,
      transaction: { jwsRepresentation: signJws(buildTransactionPayload(), applePki), id: '2001' },
    };
    expect((await validateSignedTransaction(coins, buildTransactionPayload(), { request: named })).purchaseId).toBe(
      'store_a:2001',
    );
    const unnamed = { ...named, transaction: { ...named.transaction, id: 'consumable' } };
    expect((await validateSignedTransaction(coins, buildTransactionPayload(), { request: unnamed })).purchaseId).toBe(
      'store_a:2002',
    );
  });
});

describe('a validation of store_a', () => {
  it('shows everything that the account owns, and asks twice for it in the common case', async () => {
    const { fetch, calls } = createAppStore({
      Production: { transactions: [buildTransactionPayload(), coin('2001')] },
    });
    const request = createSignedRequest(buildTransactionPayload(), { id: 'monthly', type: 'paid subscription' });
    const { observations } = await storeA.validate(request, createContext({ fetch }));
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001', 'store_a:2001']);
    expect(calls).toEqual([
      'api.storekit.apple.com/inApps/v1/subscriptions/1001',
      'api.storekit.apple.com/inApps/v2/history/1001',
    ]);
  });

  it('follows a long history page by page', async () => {
    const transactions = Array.from({ length: 45 }, (_, index) => coin(String(3000 + index)));
    const { observations, warning } = await validateSignedTransaction({ transactions });
    expect(observations).toHaveLength(46);
    expect(warning).toBeUndefined();
  });

  it('ends a history without end, and says so', async () => {
    const transactions = Array.from({ length: 1100 }, (_, index) => coin(String(3000 + index)));
    const { observations, warning } = await validateSignedTransaction({ transactions });
    expect(observations).toHaveLength(1001);
    expect(warning).toContain('too long');
  });

  it('asks the environment that Apple signed', async () => {
    const payload = buildTransactionPayload({ environment: 'Sandbox' });
    const { fetch, calls } = createAppStore({ Sandbox: { transactions: [payload] } });
    const { observations } = await storeA.validate(createSignedRequest(payload), createContext({ fetch }));
    expect(observations[0]?.refreshToken).toMatchObject({ environment: 'Sandbox' });
    expect(new Set(calls.map((call) => call.split('/')[0]))).toEqual(new Set(['api.storekit-sandbox.apple.com']));
  });

  it('counts a signed transaction that the history does not show yet', async () => {
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: purchaseDate + 31 * dayMs,
      expiresDate: purchaseDate + 61 * dayMs,
      signedDate: purchaseDate + 31 * dayMs,
    });
    const { observations } = await validateSignedTransaction(createSubscriber(2), renewed, {
      asking: { now: () => purchaseDate + 31 * dayMs },
    });
    expect(observations).toMatchObject([
      { purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 61 * dayMs } },
    ]);
    expect(observations[0]?.purchase).not.toHaveProperty('cancelationReason');
  });

  it('takes a JWS in place of the receipt, and a receipt in the deprecated field', async () => {
    const jws = signJws(buildTransactionPayload(), applePki);
    const rsa = createPki({ kind: 'rsa' });
    const content = encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) });
    const receipt = signMessage(content, rsa).toString('base64');
    const settings = { ...onlySettings, extraRoots: [applePki.root.der, rsa.root.der] };
    const validate = async (transaction: Record<string, unknown>) =>
      await storeA.validate({ id: bundleId, type: 'application', transaction }, createContext(settings));
    expect((await validate({ appStoreReceipt: jws })).observations).toHaveLength(1);
    expect((await validate({ transactionReceipt: ` ${receipt}\n` })).observations).toHaveLength(0);
    expect((await validate({ jwsRepresentation: null, appStoreReceipt: jws })).observations).toHaveLength(1);
  });
});

describe('the native detail of a validation', () => {
  it('is the latest signed transaction of the purchase, with the download in the words of receipts', async () => {
    const renewed = buildTransactionPayload({ transactionId: '1002', purchaseDate: purchaseDate + 31 * dayMs });
    const customer = { ...createSubscriber(1, renewed), download: buildAppTransactionPayload() };
    const { nativeTransaction, appDownload } = await validateSignedTransaction(customer);
    expect(nativeTransaction).toMatchObject({
      transactionId: '1002',
      originalTransactionId: '1001',
      original_application_version: '1.2',
      original_purchase_date_ms: String(purchaseDate - 90 * dayMs),
    });
    expect(appDownload).toEqual({ currentVersion: '2.4', originalVersion: '1.2' });
  });

  it('does without the download when Apple does not tell it', async () => {
    const { nativeTransaction, appDownload, warning } = await validateSignedTransaction(createSubscriber(1));
    expect(nativeTransaction).not.toHaveProperty('original_application_version');
    expect({ appDownload, warning }).toEqual({});
  });

  it('is the download that the client sent, without what identifies the device', async () => {
    const { nativeTransaction, appDownload, id, scope, observations } = await validateSignedTransaction(
      {},
      buildAppTransactionPayload(),
    );
    expect(nativeTransaction).toMatchObject({ bundleId, original_application_version: '1.2' });
    expect(JSON.stringify(nativeTransaction)).not.toContain('deviceVerification');
    expect({ appDownload, id, about: scope, observations }).toEqual({
      appDownload: { currentVersion: '2.4', originalVersion: '1.2' },
      id: bundleId,
      about: 'application',
      observations: [],
    });
  });

  it('lets a signed download find all that the customer bought', async () => {
    const { observations } = await validateSignedTransaction(
      { transactions: [coin('2001')] },
      buildAppTransactionPayload(),
    );
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:2001' } }]);
  });
});

describe('the moment that an observation speaks of', () => {
  it('is the latest signature of what Apple answers', async () => {
    const { observations } = await validateSignedTransaction(
      createSubscriber(1, {}, { signedDate: purchaseDate + 5000 }),
    );
    expect(observations[0]?.asOf).toBe(purchaseDate + 60_000);
    const later = await validateSignedTransaction(createSubscriber(1, {}, { signedDate: purchaseDate + 90_000 }));
    expect(later.observations[0]?.asOf).toBe(purchaseDate + 90_000);
  });

  it.each([
    ['the date of the purchase', {}, purchaseDate],
    [
      'the refund',
      { revocationDate: purchaseDate + dayMs, signedDate: purchaseDate + 2 * dayMs },
      purchaseDate + dayMs,
    ],
    [
      'the signature of a renewal that begins later',
      { purchaseDate: purchaseDate + dayMs, signedDate: purchaseDate },
      purchaseDate,
    ],
  ])('is %s for evidence alone', async (_title, changes, asOf) => {
    const { observations } = await validateSignedTransaction({}, buildTransactionPayload(changes), {
      asking: onlySettings,
    });
    expect(observations[0]?.asOf).toBe(asOf);
  });

  it('makes evidence of the past, however often it is signed again, yield to what Apple answered since', async () => {
    const lapsing = await validateSignedTransaction(createSubscriber(1, {}, { autoRenewStatus: 0 }));
    const signedAgain = buildTransactionPayload({ signedDate: purchaseDate + 20 * dayMs });
    const alone = await validateSignedTransaction({}, signedAgain, {
      asking: { ...onlySettings, now: () => purchaseDate + 20 * dayMs },
    });
    const observations = [...lapsing.observations, ...alone.observations].map(
      ({ refreshToken: _token, ...look }) => look,
    );
    const known = observations.reduce<PurchaseState | undefined>(merge, undefined);
    expect([observations.length, known?.purchase.renewalIntent]).toEqual([2, 'Lapse']);
  });
});

describe('evidence alone', () => {
  it('is enough, with a warning, for an application without an API key', async () => {
    const { warning, observations } = await validateSignedTransaction({}, buildTransactionPayload(), {
      asking: { ...onlySettings, fetch: failFetch },
    });
    expect(warning).toContain('No App Store Server API key');
    expect(observations).toMatchObject([{ purchase: { expirationDate: purchaseDate + 31 * dayMs } }]);
    expect(observations[0]).not.toHaveProperty('refreshToken');
  });
});
