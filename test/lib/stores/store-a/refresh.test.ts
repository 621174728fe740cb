import { describe, expect, it } from '@jest/globals';
import type { Asking } from '../../../../lib/stores/store.ts';
import { refresh } from '../../../../lib/stores/store-a/refresh.ts';
import { bought, bundleId, day, oneTimePayload, transactionPayload } from '../../../support/apple-payloads.ts';
import { appStore, asking, type Customer, subscriber } from '../../../support/fake-apple.ts';

const token = { originalTransactionId: '1001', environment: 'Production' };

const refreshed = async (customer: Customer, changes: object = {}, use: Partial<Asking> = {}) => {
  const { fetch, calls } = appStore({ Production: customer });
  return { observations: await refresh({ ...token, ...changes }, asking({ fetch, ...use })), calls };
};

describe('a refresh of store_a', () => {
  it('reads the subscription again, with the renewals since', async () => {
    const renewed = transactionPayload({
      transactionId: '1002',
      purchaseDate: bought + 31 * day,
      expiresDate: bought + 61 * day,
    });
    const { observations, calls } = await refreshed({
      ...subscriber(1, renewed),
      transactions: [renewed, transactionPayload()],
    });
    expect(observations).toMatchObject([
      {
        purchase: { transactionId: 'store_a:1002', expirationDate: bought + 61 * day, renewalIntent: 'Renew' },
        refreshToken: token,
      },
    ]);
    expect(observations[0]?.transactions).toHaveLength(2);
    expect(calls).toHaveLength(2);
  });

  it('tells of that purchase alone', async () => {
    const other = oneTimePayload('Consumable', { transactionId: '2001', originalTransactionId: '2001' });
    const { observations } = await refreshed({ ...subscriber(1), transactions: [transactionPayload(), other] });
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001']);
  });

  it('finds a refund of something bought once', async () => {
    const refunded = oneTimePayload('Non-Consumable', { revocationDate: bought + day, revocationReason: 0 });
    const { observations } = await refreshed({ transactions: [refunded] });
    expect(observations).toMatchObject([
      { purchase: { endedAt: bought + day, cancelationReason: 'Customer.OtherReason' } },
    ]);
  });

  it('asks for the transaction itself when the history leaves it out', async () => {
    const payload = oneTimePayload('Consumable');
    const { fetch } = appStore({ Production: { transactions: [payload] } });
    const { fetch: withoutHistory } = appStore({ Production: {} });
    const observations = await refresh(
      token,
      asking({ fetch: (url, init) => (url.includes('/v1/transactions/') ? fetch : withoutHistory)(url, init) }),
    );
    expect(observations).toMatchObject([{ asOf: payload.signedDate, purchase: { purchaseId: 'store_a:1001' } }]);
  });

  it('remembers how long a non-renewing subscription lasts', async () => {
    const { observations } = await refreshed(
      { transactions: [oneTimePayload('Non-Renewing Subscription')] },
      { period: 'P1M' },
    );
    expect(observations).toMatchObject([
      { purchase: { expirationDate: Date.parse('2026-04-01T10:00:00Z') }, refreshToken: { ...token, period: 'P1M' } },
    ]);
  });

  it.each<readonly [string, object, Partial<Asking>, string]>([
    ['an unknown purchase', { originalTransactionId: '9' }, { fetch: appStore({}).fetch }, 'InvalidPayload'],
    ['an unreachable Apple', {}, { fetch: asking().fetch }, 'ConnectionFailed'],
    ['an application without an API key', {}, { settings: { bundleId, sharedSecret: 'secret' } }, 'InternalError'],
    ['an application without settings', {}, { settings: undefined }, 'InvalidPayload'],
    ['a token that is none', { environment: 'Xcode' }, {}, 'InternalError'],
  ])('fails clearly for %s', async (_title, changes, use, code) => {
    await expect(refreshed(subscriber(1), changes, use)).rejects.toMatchObject({ code });
  });
});
