import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { type Microsoft, startMicrosoft, startTime } from './fake-microsoft.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await startMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(startTime));

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
