import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import {
  buildAppTransactionPayload,
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, type ReceiptFields, signMessage } from '../../../../testing/apple-signatures.ts';
import {
  apiSettings,
  createContext,
  createSignedRequest,
  failFetch,
  jsonResponse,
} from '../../../../testing/fake-apple.ts';
import { createManualStopwatch } from '../../../../testing/stopwatch.ts';

const monthEnd = purchaseDate + 31 * dayMs;

/** Returns the expiration date and whether there is a warning, or the code of the error. */
const validateTransaction = async (payload: object, now: number) =>
  await appStore.validate(createSignedRequest(payload), createContext({ now: () => now })).then(
    ({ observations, warning }) => ({
      expirationDate: observations[0]?.purchase.expirationDate,
      hasWarning: warning !== undefined,
    }),
    ({ code }) => code,
  );

describe('validate (App Store) of a signed transaction during an outage', () => {
  it('accepts an active subscription with a warning', async () => {
    expect(await validateTransaction(buildTransactionPayload(), monthEnd - 1)).toEqual({
      expirationDate: monthEnd,
      hasWarning: true,
    });
  });

  it('accepts a one-time purchase with a warning', async () => {
    const payload = buildOneTimePayload('Non-Consumable');
    expect(await validateTransaction(payload, purchaseDate + 900 * dayMs)).toEqual({
      expirationDate: undefined,
      hasWarning: true,
    });
  });

  it('throws ConnectionFailed for a subscription that may have been renewed since', async () => {
    expect(await validateTransaction(buildTransactionPayload(), monthEnd)).toBe('ConnectionFailed');
    expect(await validateTransaction(buildTransactionPayload(), monthEnd + 60 * dayMs - 1)).toBe('ConnectionFailed');
  });

  it('accepts a subscription that ended before the billing retry window', async () => {
    expect(await validateTransaction(buildTransactionPayload(), monthEnd + 90 * dayMs)).toEqual({
      expirationDate: monthEnd,
      hasWarning: true,
    });
  });

  it('throws ConnectionFailed for a subscription that was refunded or replaced recently', async () => {
    const refunded = buildTransactionPayload({
      revocationDate: purchaseDate + dayMs,
      signedDate: purchaseDate + dayMs,
    });
    expect(await validateTransaction(refunded, purchaseDate + 2 * dayMs)).toBe('ConnectionFailed');
    const replaced = buildTransactionPayload({ isUpgraded: true, signedDate: purchaseDate + dayMs });
    expect(await validateTransaction(replaced, purchaseDate + 2 * dayMs)).toBe('ConnectionFailed');
  });
});

describe('validate (App Store) of a signed app download during an outage', () => {
  it('throws ConnectionFailed', async () => {
    expect(await validateTransaction(buildAppTransactionPayload(), purchaseDate)).toBe('ConnectionFailed');
  });
});

const rsa = createPki({ kind: 'rsa' });

const buildPurchase = (id: string, productId: string, days: number): ReceiptFields => ({
  1701: 1,
  1702: productId,
  1703: id,
  1704: new Date(purchaseDate),
  1705: id,
  1706: new Date(purchaseDate),
  1708: days > 0 ? new Date(purchaseDate + days * dayMs) : '',
});

const receipt = signMessage(
  encodeReceipt({
    0: 'Production',
    2: bundleId,
    12: new Date(purchaseDate),
    17: [buildPurchase('1', 'monthly', 31), buildPurchase('2', 'yearly', 365), buildPurchase('3', 'hat', 0)],
  }),
  rsa,
).toString('base64');

const buildReceiptRequest = (id: string) => ({
  id,
  type: id === bundleId ? ('application' as const) : ('paid subscription' as const),
  transaction: { type: 'store_a', appStoreReceipt: receipt },
});

const validateReceipt = async (id: string, changes: Partial<StoreContext> = {}) =>
  await appStore
    .validate(
      buildReceiptRequest(id),
      createContext({ now: () => monthEnd + dayMs, extraRoots: [rsa.root.der], ...changes }),
    )
    .then(
      ({ observations, purchaseId, warning }) => ({ purchases: observations.length, purchaseId, warning }),
      ({ code }) => code,
    );

describe('validate (App Store) of a receipt during an outage', () => {
  it('accepts a product that is active in the receipt', async () => {
    const warning = expect.stringContaining('The App Store is unavailable');
    expect(await validateReceipt('yearly')).toEqual({ purchases: 3, purchaseId: 'store_a:2', warning });
    expect(await validateReceipt('hat')).toEqual({ purchases: 3, purchaseId: 'store_a:3', warning });
  });

  it('throws ConnectionFailed for a recently ended subscription and for scope application', async () => {
    expect(await validateReceipt('monthly')).toBe('ConnectionFailed');
    expect(await validateReceipt(bundleId)).toBe('ConnectionFailed');
  });

  it('throws ConnectionFailed for a product that the evidence does not contain', async () => {
    expect(await validateReceipt('weekly')).toBe('ConnectionFailed');
    const evidence = createSignedRequest(buildOneTimePayload('Non-Consumable'));
    const request = { ...evidence, type: 'paid subscription' as const, id: 'monthly' };
    const validation = appStore.validate(request, createContext({ now: () => purchaseDate }));
    await expect(validation).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('uses verifyReceipt with a warning if only the App Store Server API is unavailable', async () => {
    const fetch: StoreFetch = async (url, init) =>
      url.includes('verifyReceipt')
        ? jsonResponse(200, { status: 0, environment: 'Production', receipt: { bundle_id: bundleId, in_app: [] } })
        : await failFetch(url, init);
    const settings = { ...apiSettings, sharedSecret: 'secret' };
    const result = await validateReceipt('yearly', { fetch, settings });
    expect(result).toMatchObject({ warning: expect.stringContaining('verifyReceipt') });
  });
});

describe('request budget (App Store)', () => {
  it('limits the total time of slow calls', async () => {
    const stopwatch = createManualStopwatch();
    const calls: string[] = [];
    const slowFetch: StoreFetch = async (url, { timeoutMs = 60_000 } = {}) => {
      calls.push(url);
      if (url.includes('subscriptions')) return jsonResponse(404, { errorCode: 4040010 });
      stopwatch.advance(Math.min(timeoutMs, 3000));
      if (timeoutMs < 3000) throw new ServiceError('ConnectionFailed', 'The store is unavailable. Try again later.');
      return jsonResponse(200, {
        environment: 'Production',
        bundleId,
        signedTransactions: [],
        hasMore: true,
        revision: '1',
      });
    };
    const settings = { ...apiSettings, sharedSecret: 'secret' };
    expect(await validateReceipt('monthly', { fetch: slowFetch, settings, stopwatch })).toBe('ConnectionFailed');
    expect(calls.length).toBeGreaterThan(3);
    expect(stopwatch.readMs()).toBeLessThan(12_000);
  });
});
