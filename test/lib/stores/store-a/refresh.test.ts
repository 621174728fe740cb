import { describe, expect, it } from '@jest/globals';
import { refresh } from '../../../../lib/stores/store-a/refresh.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import {
  buildOneTimePayload,
  buildTransactionPayload,
  bundleId,
  dayMs,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { type Customer, createAppStore, createContext, createSubscriber } from '../../../../testing/fake-apple.ts';

const token = { originalTransactionId: '1001', environment: 'Production' };

const refreshed = async (customer: Customer, changes: object = {}, use: Partial<StoreContext> = {}) => {
  const { fetch, calls } = createAppStore({ Production: customer });
  return { observations: await refresh({ ...token, ...changes }, createContext({ fetch, ...use })), calls };
};

describe('a refresh of store_a', () => {
  it('reads the subscription again, with the renewals since', async () => {
    const renewed = buildTransactionPayload({
      transactionId: '1002',
      purchaseDate: purchaseDate + 31 * dayMs,
      expiresDate: purchaseDate + 61 * dayMs,
    });
    const { observations, calls } = await refreshed({
      ...createSubscriber(1, renewed),
      transactions: [renewed, buildTransactionPayload()],
    });
    expect(observations).toMatchObject([
      {
        purchase: { transactionId: 'store_a:1002', expirationDate: purchaseDate + 61 * dayMs, renewalIntent: 'Renew' },
        refreshToken: token,
      },
    ]);
    expect(observations[0]?.transactions).toHaveLength(2);
    expect(calls).toHaveLength(2);
  });

  it('tells of that purchase alone', async () => {
    const other = buildOneTimePayload('Consumable', { transactionId: '2001', originalTransactionId: '2001' });
    const { observations } = await refreshed({
      ...createSubscriber(1),
      transactions: [buildTransactionPayload(), other],
    });
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001']);
  });

  it('finds a refund of something bought once', async () => {
    const refunded = buildOneTimePayload('Non-Consumable', {
      revocationDate: purchaseDate + dayMs,
      revocationReason: 0,
    });
    const { observations } = await refreshed({ transactions: [refunded] });
    expect(observations).toMatchObject([
      { purchase: { endedAt: purchaseDate + dayMs, cancelationReason: 'Customer.OtherReason' } },
    ]);
  });

  it('asks for the transaction itself when the history leaves it out', async () => {
    const payload = buildOneTimePayload('Consumable');
    const { fetch } = createAppStore({ Production: { transactions: [payload] } });
    const { fetch: withoutHistory } = createAppStore({ Production: {} });
    const observations = await refresh(
      token,
      createContext({ fetch: (url, init) => (url.includes('/v1/transactions/') ? fetch : withoutHistory)(url, init) }),
    );
    expect(observations).toMatchObject([{ asOf: payload.signedDate, purchase: { purchaseId: 'store_a:1001' } }]);
  });

  it('remembers how long a non-renewing subscription lasts', async () => {
    const { observations } = await refreshed(
      { transactions: [buildOneTimePayload('Non-Renewing Subscription')] },
      { period: 'P1M' },
    );
    expect(observations).toMatchObject([
      { purchase: { expirationDate: Date.parse('2026-04-01T10:00:00Z') }, refreshToken: { ...token, period: 'P1M' } },
    ]);
  });

  it.each<readonly [string, object, Partial<StoreContext>, string]>([
    ['an unknown purchase', { originalTransactionId: '9' }, { fetch: createAppStore({}).fetch }, 'InvalidPayload'],
    ['an unreachable Apple', {}, { fetch: createContext().fetch }, 'ConnectionFailed'],
    ['an application without an API key', {}, { settings: { bundleId, sharedSecret: 'secret' } }, 'InternalError'],
    ['an application without settings', {}, { settings: undefined }, 'InvalidPayload'],
    ['a token that is none', { environment: 'Xcode' }, {}, 'InternalError'],
  ])('fails clearly for %s', async (_title, changes, use, code) => {
    await expect(refreshed(createSubscriber(1), changes, use)).rejects.toMatchObject({ code });
  });
});
