import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import {
  appAppleId,
  buildAppTransactionPayload,
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
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

const buildCoin = (id: string, changes: object = {}) =>
  buildOneTimePayload('Consumable', { transactionId: id, originalTransactionId: id, ...changes });

const withoutApiKey = { settings: { bundleId } };

describe('validate (App Store) of a requested product or app', () => {
  const customer = {
    transactions: [buildTransactionPayload(), buildCoin('2001')],
    statuses: createSubscriber(1).statuses ?? [],
  };
  const validate = async (request: object, payload: object = buildTransactionPayload()) => {
    const { id, scope, purchaseId } = await validateSignedTransaction(customer, payload, { request });
    return { id, scope, purchaseId };
  };

  it('returns scope application and the signed purchase for the type application and for the bundle id', async () => {
    const application = { id: bundleId, scope: 'application', purchaseId: 'store_a:1001' };
    expect(await validate({})).toEqual(application);
    expect(await validate({ id: 'the name of the app' })).toEqual(application);
    expect(await validate({ type: 'paid subscription' })).toEqual(application);
  });

  it('returns scope product and the purchase of the requested product', async () => {
    expect(await validate({ id: 'monthly', type: 'paid subscription' })).toEqual({
      id: 'monthly',
      scope: 'product',
      purchaseId: 'store_a:1001',
    });
  });

  it('returns the requested product even if a different product is signed', async () => {
    const hat = buildOneTimePayload('Non-Consumable', { transactionId: '3001', originalTransactionId: '3001' });
    const withHat = { ...customer, transactions: [...customer.transactions, hat] };
    const request = { id: 'non-consumable', type: 'non consumable' } as const;
    const { purchaseId } = await validateSignedTransaction(withHat, buildTransactionPayload(), { request });
    expect(purchaseId).toBe('store_a:3001');
  });

  it('does not return a requested consumable that the evidence does not contain', async () => {
    const request = { id: 'consumable', type: 'consumable' } as const;
    const validation = await validateSignedTransaction(customer, buildTransactionPayload(), { request });
    expect(validation.purchaseId).toBeUndefined();
    expect(validation.unlistedPurchaseIds).toEqual(['store_a:2001']);
  });

  it('returns an old purchase behind very many consumables, with a limited number of calls', async () => {
    const coins = Array.from({ length: 1_100 }, (_, index) => buildCoin(String(100_000 + index)));
    const hat = buildOneTimePayload('Non-Consumable', { transactionId: '3001', originalTransactionId: '3001' });
    const { fetch, calls } = createAppStore({ Production: { transactions: [...coins, hat] } });
    const request = { ...createSignedRequest(coins[0] ?? hat), id: 'non-consumable', type: 'non consumable' } as const;
    const { purchaseId, warning } = await appStore.validate(request, createContext({ fetch }));
    expect(purchaseId).toBe('store_a:3001');
    expect(warning).toContain('history is too long');
    expect(calls.length).toBeLessThan(25);
  });

  it('returns no purchaseId if the account does not contain the product', async () => {
    expect(await validate({ id: 'yearly', type: 'paid subscription' })).toMatchObject({
      scope: 'product',
      purchaseId: undefined,
    });
  });

  it('returns no purchaseId for the former product of a changed subscription', async () => {
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

  it('selects the purchase of a consumable by the signed transaction', async () => {
    const coins = { transactions: [buildCoin('2001'), buildCoin('2002'), buildCoin('2003')] };
    const request = { id: 'consumable', type: 'consumable' } as const;
    expect((await validateSignedTransaction(coins, buildCoin('2003'), { request })).purchaseId).toBe('store_a:2003');
  });

  it('selects the purchase by transaction.id, then the latest one of the product', async () => {
    const buildHat = (id: string, changes: object = {}) =>
      buildOneTimePayload('Non-Consumable', { transactionId: id, originalTransactionId: id, ...changes });
    const hats = {
      transactions: [
        buildHat('2001'),
        buildHat('2002', { purchaseDate: purchaseDate + dayMs, originalPurchaseDate: purchaseDate + dayMs }),
        buildHat('2003'),
      ],
    };
    const validateHat = async (id: string) => {
      const transaction = { jwsRepresentation: signJws(buildTransactionPayload(), applePki), id };
      const request = { id: 'non-consumable', type: 'non consumable', transaction } as const;
      return (await validateSignedTransaction(hats, buildTransactionPayload(), { request })).purchaseId;
    };
    expect(await validateHat('2001')).toBe('store_a:2001');
    expect(await validateHat('non-consumable')).toBe('store_a:2002');
  });
});

describe('validate (App Store)', () => {
  it('returns all purchases of the account with two API calls', async () => {
    const { fetch, calls } = createAppStore({
      Production: { transactions: [buildTransactionPayload(), buildCoin('2001')] },
    });
    const request = createSignedRequest(buildTransactionPayload(), { id: 'monthly', type: 'paid subscription' });
    const { observations } = await appStore.validate(request, createContext({ fetch }));
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001', 'store_a:2001']);
    expect(calls).toEqual([
      'api.storekit.apple.com/inApps/v1/subscriptions/1001',
      'api.storekit.apple.com/inApps/v2/history/1001',
    ]);
  });

  it('fetches all pages of a long history', async () => {
    const transactions = Array.from({ length: 45 }, (_, index) => buildCoin(String(3000 + index)));
    const { observations, warning } = await validateSignedTransaction({ transactions });
    expect(observations).toHaveLength(46);
    expect(warning).toBeUndefined();
  });

  it('stops after the maximum number of pages with a warning', async () => {
    const transactions = Array.from({ length: 1100 }, (_, index) => buildCoin(String(3000 + index)));
    const { observations, warning } = await validateSignedTransaction({ transactions });
    expect(observations).toHaveLength(401);
    expect(warning).toContain('too long');
  });

  it('queries the environment of the signed transaction', async () => {
    const payload = buildTransactionPayload({ environment: 'Sandbox' });
    const { fetch, calls } = createAppStore({ Sandbox: { transactions: [payload] } });
    const { observations } = await appStore.validate(createSignedRequest(payload), createContext({ fetch }));
    expect(observations[0]?.refreshToken).toMatchObject({ environment: 'Sandbox' });
    expect(new Set(calls.map((call) => call.split('/')[0]))).toEqual(new Set(['api.storekit-sandbox.apple.com']));
  });

  it('uses a signed transaction that is newer than the history', async () => {
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: purchaseDate + 31 * dayMs,
      expiresDate: purchaseDate + 61 * dayMs,
      signedDate: purchaseDate + 31 * dayMs,
    });
    const { observations } = await validateSignedTransaction(createSubscriber(2), renewed, {
      context: { now: () => purchaseDate + 31 * dayMs },
    });
    expect(observations).toMatchObject([
      { purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 61 * dayMs } },
    ]);
    expect(observations[0]?.purchase).not.toHaveProperty('cancelationReason');
  });

  it('accepts a JWS as appStoreReceipt and a receipt as transactionReceipt', async () => {
    const jws = signJws(buildTransactionPayload(), applePki);
    const rsa = createPki({ kind: 'rsa' });
    const content = encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) });
    const receipt = signMessage(content, rsa).toString('base64');
    const context = { ...withoutApiKey, extraRoots: [applePki.root.der, rsa.root.der] };
    const validate = async (transaction: Record<string, unknown>) =>
      await appStore.validate({ id: bundleId, type: 'application', transaction }, createContext(context));
    expect((await validate({ appStoreReceipt: jws })).observations).toHaveLength(1);
    const wrapped = jws.replaceAll(/.{76}/g, (line) => `${line}\r\n`);
    expect((await validate({ appStoreReceipt: `\ufeff${wrapped}\n` })).observations).toHaveLength(1);
    expect((await validate({ transactionReceipt: ` ${receipt}\n` })).observations).toHaveLength(0);
    expect((await validate({ jwsRepresentation: null, appStoreReceipt: jws })).observations).toHaveLength(1);
  });
});

describe('nativeTransaction (App Store)', () => {
  it('contains the latest signed transaction and the app download with the field names of receipts', async () => {
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

  it('omits the app download if the App Store does not return it', async () => {
    const { nativeTransaction, appDownload, warning } = await validateSignedTransaction(createSubscriber(1));
    expect(nativeTransaction).not.toHaveProperty('original_application_version');
    expect({ appDownload, warning }).toEqual({});
  });

  it('contains a submitted app download without the device verification', async () => {
    const { nativeTransaction, appDownload, id, scope, observations } = await validateSignedTransaction(
      {},
      buildAppTransactionPayload(),
    );
    expect(nativeTransaction).toMatchObject({ bundleId, original_application_version: '1.2' });
    expect(JSON.stringify(nativeTransaction)).not.toContain('deviceVerification');
    expect({ appDownload, id, scope, observations }).toEqual({
      appDownload: { currentVersion: '2.4', originalVersion: '1.2' },
      id: bundleId,
      scope: 'application',
      observations: [],
    });
  });

  it('finds all purchases of the customer by a signed app download', async () => {
    const { observations } = await validateSignedTransaction(
      { transactions: [buildCoin('2001')] },
      buildAppTransactionPayload(),
    );
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:2001' } }]);
  });
});

describe('asOf (App Store)', () => {
  it('equals the latest signing date in the API responses', async () => {
    const { observations } = await validateSignedTransaction(
      createSubscriber(1, {}, { signedDate: purchaseDate + 5000 }),
    );
    expect(observations[0]?.asOf).toBe(purchaseDate + 60_000);
    const later = await validateSignedTransaction(createSubscriber(1, {}, { signedDate: purchaseDate + 90_000 }));
    expect(later.observations[0]?.asOf).toBe(purchaseDate + 90_000);
  });

  it.each([
    [
      'a revoked transaction',
      { revocationDate: purchaseDate + dayMs, signedDate: purchaseDate + 2 * dayMs },
      purchaseDate + dayMs,
    ],
    ['a replaced transaction', { isUpgraded: true, signedDate: purchaseDate + dayMs }, purchaseDate + dayMs],
  ])('precedes the end of %s by 1 ms without an API response', async (_title, changes, endedAt) => {
    const { observations } = await validateSignedTransaction({}, buildTransactionPayload(changes), {
      context: withoutApiKey,
    });
    expect(observations).toMatchObject([{ asOf: endedAt - 1, transactionsAsOf: endedAt }]);
  });

  it.each([
    ['the purchase date', {}],
    ['the signing date of a renewal in the future', { purchaseDate: purchaseDate + dayMs, signedDate: purchaseDate }],
  ])('precedes every status without an API response, with transactions as of %s', async (_title, changes) => {
    const { observations } = await validateSignedTransaction({}, buildTransactionPayload(changes), {
      context: withoutApiKey,
    });
    expect(observations).toMatchObject([{ transactionsAsOf: purchaseDate, isInferred: true }]);
  });

  it('gives an API response precedence over older evidence that was signed again later', async () => {
    const fromApi = await validateSignedTransaction(createSubscriber(1, {}, { autoRenewStatus: 0 }));
    const signedAgain = buildTransactionPayload({ signedDate: purchaseDate + 20 * dayMs });
    const fromEvidence = await validateSignedTransaction({}, signedAgain, {
      context: { ...withoutApiKey, now: () => purchaseDate + 20 * dayMs },
    });
    const observations = [...fromApi.observations, ...fromEvidence.observations].map(
      ({ refreshToken: _token, ...observation }) => observation,
    );
    const state = observations.reduce<PurchaseState | undefined>(merge, undefined);
    expect([observations.length, state?.purchase.renewalIntent]).toEqual([2, 'Lapse']);
  });
});

describe('validate (App Store) with appAppleId in the request', () => {
  const validateWith = async (appAppleId: unknown, payload = buildTransactionPayload()) => {
    const request = createSignedRequest(payload);
    const transaction = { ...request.transaction, appAppleId };
    return await validateSignedTransaction(createSubscriber(1), payload, { request: { transaction } });
  };

  it.each([appAppleId, String(appAppleId), 0, '', null, undefined, {}])('accepts %j', async (value) => {
    await expect(validateWith(value)).resolves.toMatchObject({ purchaseId: 'store_a:1001' });
  });

  it('rejects the id of a different app in production', async () => {
    await expect(validateWith(5)).rejects.toMatchObject({ code: 'InvalidPayload', message: /appAppleId/ });
  });
});

describe('validate (App Store) without an API key', () => {
  it('relies on the signature with a warning', async () => {
    const { warning, observations } = await validateSignedTransaction({}, buildTransactionPayload(), {
      context: { ...withoutApiKey, fetch: failFetch },
    });
    expect(warning).toContain('No App Store Server API key');
    expect(observations).toMatchObject([{ purchase: { expirationDate: purchaseDate + 31 * dayMs } }]);
    expect(observations[0]).not.toHaveProperty('refreshToken');
  });

  it('throws InternalError with the missing settings if a query is required', async () => {
    const context = { ...withoutApiKey, fetch: failFetch, requiresQuery: true };
    await expect(validateSignedTransaction({}, buildTransactionPayload(), { context })).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringMatching(/^The store_a settings lack issuerId, keyId and privateKey, .+app set-store/),
    });
  });
});
