import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import {
  buildAppTransactionPayload,
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
  dayMs,
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

const monthEnd = purchaseDate + 31 * dayMs;

const outcomeOf = async (payload: object, now: number) =>
  await storeA.validate(createSignedRequest(payload), createContext({ now: () => now })).then(
    ({ observations, warning }) => ({
      expirationDate: observations[0]?.purchase.expirationDate,
      warned: warning !== undefined,
    }),
    ({ code }) => code,
  );

describe('while Apple cannot be reached, a signed transaction', () => {
  it('of a running subscription is enough, with a warning', async () => {
    expect(await outcomeOf(buildTransactionPayload(), monthEnd - 1)).toEqual({
      expirationDate: monthEnd,
      warned: true,
    });
  });

  it('of something bought once is enough, with a warning', async () => {
    const payload = buildOneTimePayload('Non-Consumable');
    expect(await outcomeOf(payload, purchaseDate + 900 * dayMs)).toEqual({ expirationDate: undefined, warned: true });
  });

  it('of a subscription that may have been renewed since cannot tell', async () => {
    expect(await outcomeOf(buildTransactionPayload(), monthEnd)).toBe('ConnectionFailed');
    expect(await outcomeOf(buildTransactionPayload(), monthEnd + 60 * dayMs - 1)).toBe('ConnectionFailed');
  });

  it('of a subscription that ended longer ago than Apple retries a payment is enough', async () => {
    expect(await outcomeOf(buildTransactionPayload(), monthEnd + 60 * dayMs)).toEqual({
      expirationDate: monthEnd,
      warned: true,
    });
  });

  it('of a subscription that was refunded or replaced lately cannot tell what came after', async () => {
    const refunded = buildTransactionPayload({
      revocationDate: purchaseDate + dayMs,
      signedDate: purchaseDate + dayMs,
    });
    expect(await outcomeOf(refunded, purchaseDate + 2 * dayMs)).toBe('ConnectionFailed');
    const replaced = buildTransactionPayload({ isUpgraded: true, signedDate: purchaseDate + dayMs });
    expect(await outcomeOf(replaced, purchaseDate + 2 * dayMs)).toBe('ConnectionFailed');
  });
});

describe('while Apple cannot be reached, a signed download', () => {
  it('cannot tell what the customer bought', async () => {
    expect(await outcomeOf(buildAppTransactionPayload(), purchaseDate)).toBe('ConnectionFailed');
  });
});

const rsa = createPki({ kind: 'rsa' });

const purchase = (id: string, product: string, days: number): ReceiptFields => ({
  1701: 1,
  1702: product,
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
    17: [purchase('1', 'monthly', 31), purchase('2', 'yearly', 365), purchase('3', 'hat', 0)],
  }),
  rsa,
).toString('base64');

const receiptRequest = (id: string) => ({
  id,
  type: id === bundleId ? ('application' as const) : ('paid subscription' as const),
  transaction: { type: 'store_a', appStoreReceipt: receipt },
});

const withReceipt = async (id: string, changes: Partial<StoreContext> = {}) =>
  await storeA
    .validate(
      receiptRequest(id),
      createContext({ now: () => monthEnd + dayMs, extraRoots: [rsa.root.der], ...changes }),
    )
    .then(
      ({ observations, purchaseId, warning }) => ({ purchases: observations.length, purchaseId, warning }),
      ({ code }) => code,
    );

describe('while Apple cannot be reached, a receipt', () => {
  it('tells of a product that it shows to be owned still', async () => {
    const warning = expect.stringContaining('Apple could not be reached');
    expect(await withReceipt('yearly')).toEqual({ purchases: 3, purchaseId: 'store_a:2', warning });
    expect(await withReceipt('hat')).toEqual({ purchases: 3, purchaseId: 'store_a:3', warning });
  });

  it('cannot tell of a subscription that it shows to have ended lately, nor of everything', async () => {
    expect(await withReceipt('monthly')).toBe('ConnectionFailed');
    expect(await withReceipt(bundleId)).toBe('ConnectionFailed');
  });

  it('cannot tell that a product is not owned while another may have been renewed', async () => {
    expect(await withReceipt('weekly')).toBe('ConnectionFailed');
  });

  it('is judged by verifyReceipt, with a warning, when only the newer API is down', async () => {
    const fetch: StoreFetch = async (url, init) =>
      url.includes('verifyReceipt')
        ? jsonResponse(200, { status: 0, environment: 'Production', receipt: { bundle_id: bundleId, in_app: [] } })
        : await failFetch(url, init);
    const settings = { ...apiSettings, sharedSecret: 'secret' };
    const result = await withReceipt('yearly', { fetch, settings });
    expect(result).toMatchObject({ warning: expect.stringContaining('verifyReceipt') });
  });
});

describe('the time of a validation', () => {
  it('is bounded, however many slow calls it would take', async () => {
    let spent = 0;
    const { now } = performance;
    performance.now = () => now.call(performance) + spent;
    const calls: string[] = [];
    const slowly: StoreFetch = async (url, { timeoutMs = 60_000 } = {}) => {
      calls.push(url);
      if (url.includes('subscriptions')) return jsonResponse(404, { errorCode: 4040010 });
      spent += Math.min(timeoutMs, 3000);
      if (timeoutMs < 3000) throw new ServiceError('ConnectionFailed', 'slow');
      return jsonResponse(200, {
        environment: 'Production',
        bundleId,
        signedTransactions: [],
        hasMore: true,
        revision: '1',
      });
    };
    try {
      const settings = { ...apiSettings, sharedSecret: 'secret' };
      expect(await withReceipt('monthly', { fetch: slowly, settings })).toBe('ConnectionFailed');
    } finally {
      performance.now = now;
    }
    expect(calls.length).toBeGreaterThan(3);
    expect(spent).toBeLessThan(12_000);
  });
});
