import { beforeEach, describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { decodePayload } from '../../../../emulator/test/emulator-client.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { renewKeys } from '../../../../lib/stores/microsoft-store/key-renewal.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { RefreshToken } from '../../../../lib/stores/microsoft-store/refresh-token.ts';
import { createSession } from '../../../../lib/stores/microsoft-store/session.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startMicrosoft, startTime } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);
beforeEach(() => microsoft.clock.set(startTime));

/** Removes the refresh token, which is stored separately. */
const omitRefreshToken = ({ refreshToken: _refreshToken, ...observation }: Observation) => observation;

const getExpiration = (key = ''): number => decodePayload(key).exp * 1000;

describe('refresh (Microsoft Store)', () => {
  it('returns the same state as a validation', async () => {
    const { id, body } = await microsoft.createPurchase({ productId: 'refreshed' });
    const [validated] = (await microsoft.validate(body)).observations;
    await microsoft.act(id, 'renew');
    const [refreshed] = await microsoft.refresh(validated?.refreshToken);
    const { purchase, transactions } = await microsoft.getObservation(id);
    expect(refreshed).toMatchObject({ purchase });
    // Only a client reports a price. The refresh estimates by it.
    expect(refreshed?.transactions).toEqual([{ ...transactions[0], isEstimatedAmount: true }]);
  });

  it('derives the date of a renewal from the earlier expiration if the client sent no period', async () => {
    const { id, body } = await microsoft.createPurchase({ productId: 'no period', period: 'P3M' });
    const { billingPeriod: _count, billingPeriodUnit: _unit, ...withoutPeriod } = body;
    const [validated] = (await microsoft.validate(withoutPeriod)).observations;
    await microsoft.act(id, 'renew');
    const [refreshed] = await microsoft.refresh(validated?.refreshToken);
    expect(refreshed?.purchase).toMatchObject({
      lastRenewalDate: validated?.purchase.expirationDate,
      transactionId: `store_c:${id}:2027-07-31`,
    });
  });

  it('adds one transaction per period, independent of the number of refreshes', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'many periods', autoRenew: true });
    let [latest] = (await microsoft.validate(body)).observations;
    let state = latest && merge(undefined, omitRefreshToken(latest));
    for (let week = 0; week < 20; week++) {
      await microsoft.advance('P1W');
      [latest] = await microsoft.refresh(latest?.refreshToken);
      state = latest && merge(state, omitRefreshToken(latest));
    }
    const ends = state?.transactions.map(({ transaction }) => new Date(transaction.expirationDate ?? 0).toISOString());
    expect(ends?.map((end) => end.slice(0, 10))).toEqual([
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-05-31',
      '2027-06-30',
    ]);
    expect(state?.purchase.lastRenewalDate).toBe(Date.parse('2027-05-31T10:00:00Z'));
  });

  it('returns nothing for a fulfilled developer-managed consumable', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'fulfilled', type: 'consumable' });
    const validation = await microsoft.validate(body);
    await microsoftStore.fulfill?.(validation, microsoft.createContext({ consume: true }));
    expect(await microsoft.refresh(validation.observations[0]?.refreshToken)).toEqual([]);
  });

  it('throws NeedMoreData without a ticket if the key has expired', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'too late' });
    const [validated] = (await microsoft.validate(body)).observations;
    await microsoft.advance('P31D');
    const error = await microsoft.refresh(validated?.refreshToken).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'NeedMoreData', data: {} });
    expect(error).not.toHaveProperty('data.serviceTicket');
  });

  it('rejects a malformed refresh token', async () => {
    await expect(microsoft.refresh({ purchaseKey: 'key' })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describe('renewKeys (Microsoft Store)', () => {
  it('renews both keys after 14 days, not earlier', async () => {
    const { id } = await microsoft.createPurchase({ productId: 'two keys', autoRenew: true });
    const [validated] = (await microsoft.validate(await microsoft.getRequest(id, 'both'))).observations;
    const token = v.parse(RefreshToken, validated?.refreshToken);
    await microsoft.advance('P13D');
    expect(await renewKeys(createSession(microsoft.createContext()), token)).toEqual(token);
    await microsoft.advance('P2D');
    const renewed = await renewKeys(createSession(microsoft.createContext()), token);
    expect(renewed).toMatchObject({ productId: 'two keys', period: 'P1M' });
    for (const key of [renewed.collectionsKey, renewed.purchaseKey])
      expect(getExpiration(key)).toBe(startTime + 45 * dayMs);
  });

  it('keeps a key valid as long as the purchase is refreshed', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'lives on', autoRenew: true });
    let [observation] = (await microsoft.validate(body)).observations;
    for (let count = 0; count < 8; count++) {
      await microsoft.advance('P15D');
      [observation] = await microsoft.refresh(observation?.refreshToken);
    }
    expect(getExpiration(observation?.refreshToken?.purchaseKey)).toBe(startTime + 150 * dayMs);
  });

  it('keeps the old key if the renewal is unavailable', async () => {
    const other = await startMicrosoft();
    const { id, body } = await other.createPurchase({ autoRenew: true });
    const [validated] = (await other.validate(body)).observations;
    await other.advance('P15D');
    // The first call requests a token, the second one renews the key.
    await other.addFault({ fault: 'slow', delayMs: 0 });
    await other.addFault({ fault: 'down' });
    expect(await other.refresh(validated?.refreshToken)).toMatchObject([
      { purchase: { purchaseId: `store_c:${id}` }, refreshToken: { purchaseKey: body.license?.storeIdKey_purchases } },
    ]);
    expect(other.calls.map(({ url }) => new URL(url).pathname)).toContain('/v6.0/b2b/keys/renew');
    await other.close();
  });
});

type Token = Readonly<Record<string, string>>;

/** Validates a subscription, renews its key in a refresh and validates the client's first request again. */
async function revalidateAfterRenewal(getStoredToken: (renewed: Token) => Token | undefined) {
  const { body } = await microsoft.createPurchase({ productId: 'renewed key', autoRenew: true });
  const [first] = (await microsoft.validate(body)).observations as [Observation];
  await microsoft.advance('P15D');
  const [refreshed] = (await microsoft.refresh(first.refreshToken)) as [Observation];
  const renewed = { ...refreshed.refreshToken };
  const context: StoreContext = {
    ...microsoft.createContext(),
    findRefreshToken: async () => getStoredToken(renewed),
  };
  const [observation] = (await microsoftStore.validate(body, context)).observations as [Observation];
  return { clientKey: body.license?.storeIdKey_purchases, renewed, refreshToken: observation.refreshToken };
}

describe('validate (Microsoft Store) of a stored purchase', () => {
  it("keeps a renewed key instead of the client's older key", async () => {
    const { clientKey, renewed, refreshToken } = await revalidateAfterRenewal((token) => token);
    expect(renewed.purchaseKey).not.toBe(clientKey);
    expect(refreshToken?.purchaseKey).toBe(renewed.purchaseKey);
  });

  it('keeps a stored key that the request lacks', async () => {
    const { id } = await microsoft.createPurchase({ productId: 'both keys' });
    const request = await microsoft.getRequest(id, 'both');
    const collectionsKey = request.license?.storeIdKey_collections ?? '';
    const stored = { productId: 'both keys', collectionsKey };
    const { clientKey, refreshToken } = await revalidateAfterRenewal(() => stored);
    expect(refreshToken).toMatchObject({ purchaseKey: clientKey, collectionsKey, productId: 'renewed key' });
  });

  it.each<[string, Token | undefined]>([
    ['missing', undefined],
    ['without a valid key', { productId: 'x', purchaseKey: 'a.b.c' }],
    ['malformed', { other: 'x' }],
  ])("keeps the client's key if the stored refresh token is %s", async (_case, stored) => {
    const { clientKey, refreshToken } = await revalidateAfterRenewal(() => stored);
    expect(refreshToken?.purchaseKey).toBe(clientKey);
  });
});
