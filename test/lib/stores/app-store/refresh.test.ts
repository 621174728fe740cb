import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { refresh } from '../../../../lib/stores/app-store/refresh.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import {
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import {
  apiSettings,
  type Customer,
  createAppStore,
  createContext,
  createSubscriber,
} from '../../../../testing/fake-apple.ts';

const refreshToken = { originalTransactionId: '1001', environment: 'Production' };

const refreshCustomer = async (
  customer: Customer,
  tokenChanges: object = {},
  contextChanges: Partial<StoreContext> = {},
) => {
  const { fetch, calls } = createAppStore({ Production: customer });
  const context = createContext({ fetch, ...contextChanges });
  return { observations: await refresh({ ...refreshToken, ...tokenChanges }, context), calls };
};

describe('refresh (App Store)', () => {
  it('continues a purchase with the key of the account to which the app was transferred', async () => {
    const { fetch } = createAppStore({ Production: createSubscriber(1) });
    const issuers: unknown[] = [];
    const recordIssuer: StoreContext['fetch'] = async (url, init) => {
      const [, claims = ''] = new Headers(init?.headers).get('authorization')?.split('.') ?? [];
      issuers.push(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')).iss);
      return await fetch(url, init);
    };
    const recipient = { ...apiSettings, issuerId: 'recipient', keyId: 'KEY2' };
    const refreshWith = async (settings: object) =>
      await refresh(refreshToken, createContext({ fetch: recordIssuer, settings: { ...settings } }));
    const [before] = await refreshWith(apiSettings);
    const callsBefore = issuers.length;
    expect(await refreshWith(recipient)).toEqual([before]);
    expect(new Set(issuers.slice(0, callsBefore))).toEqual(new Set(['issuer']));
    expect(new Set(issuers.slice(callsBefore))).toEqual(new Set(['recipient']));
  });

  it('returns the subscription with its renewals', async () => {
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: purchaseDate + 31 * dayMs,
      expiresDate: purchaseDate + 61 * dayMs,
    });
    const { observations, calls } = await refreshCustomer({
      ...createSubscriber(1, renewed),
      transactions: [renewed, buildTransactionPayload()],
    });
    expect(observations).toMatchObject([
      {
        purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 61 * dayMs, renewalIntent: 'Renew' },
        refreshToken,
      },
    ]);
    expect(observations[0]?.transactions).toHaveLength(2);
    expect(calls).toHaveLength(2);
  });

  it('returns the subscription for the id of a renewal, which the file of an import can contain', async () => {
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: purchaseDate + 31 * dayMs,
      expiresDate: purchaseDate + 61 * dayMs,
    });
    const customer = { ...createSubscriber(1, renewed), transactions: [renewed, buildTransactionPayload()] };
    const { observations } = await refreshCustomer(customer, { originalTransactionId: '1002' });
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:1001' }, refreshToken }]);
  });

  it('returns only the purchase of the refresh token', async () => {
    const consumable = buildOneTimePayload('Consumable', { transactionId: '2001', originalTransactionId: '2001' });
    const { observations } = await refreshCustomer({
      ...createSubscriber(1),
      transactions: [buildTransactionPayload(), consumable],
    });
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001']);
  });

  it('returns the refund of a one-time purchase', async () => {
    const refunded = buildOneTimePayload('Non-Consumable', {
      revocationDate: purchaseDate + dayMs,
      revocationReason: 0,
    });
    const { observations } = await refreshCustomer({ transactions: [refunded] });
    expect(observations).toMatchObject([
      { purchase: { endedAt: purchaseDate + dayMs, cancelationReason: 'Customer.OtherReason' } },
    ]);
  });

  it('fetches the transaction if the history does not contain it', async () => {
    const payload = buildOneTimePayload('Consumable');
    const { fetch } = createAppStore({ Production: { transactions: [payload] } });
    const { fetch: fetchEmpty } = createAppStore({ Production: {} });
    const context = createContext({
      fetch: (url, init) => (url.includes('/v1/transactions/') ? fetch : fetchEmpty)(url, init),
    });
    expect(await refresh(refreshToken, context)).toMatchObject([
      { asOf: payload.signedDate, purchase: { purchaseId: 'store_a:1001' } },
    ]);
  });

  it.each<readonly [string, string, object, Partial<StoreContext>]>([
    ['InvalidPayload', 'an unknown purchase', { originalTransactionId: '9' }, { fetch: createAppStore({}).fetch }],
    ['ConnectionFailed', 'an outage', {}, { fetch: createContext().fetch }],
    ['InternalError', 'settings without an API key', {}, { settings: { bundleId, sharedSecret: 'secret' } }],
    ['InternalError', 'missing settings', {}, { settings: undefined }],
    ['InternalError', 'an invalid refresh token', { environment: 'Xcode' }, {}],
  ])('throws %s for %s', async (code, _title, tokenChanges, contextChanges) => {
    await expect(refreshCustomer(createSubscriber(1), tokenChanges, contextChanges)).rejects.toMatchObject({ code });
  });
});
