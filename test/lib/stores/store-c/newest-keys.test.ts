import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import { type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(start));

/** A subscription whose key the service renewed, validated again with what the client sends and the table has. */
async function validatedAgain({
  kept,
}: {
  kept: (renewed: Record<string, string>) => Record<string, string> | undefined;
}) {
  const { body } = await microsoft.bought({ productId: 'renewed key', autoRenew: true });
  const [first] = (await microsoft.validate(body)).observations as [Observation];
  await microsoft.advance('P15D');
  const [refreshed] = (await microsoft.refresh(first.refreshToken)) as [Observation];
  const renewed = { ...refreshed.refreshToken };
  const context = { ...microsoft.asking(), refreshTokenOf: async () => kept(renewed) };
  const [again] = (await storeC.validate(body, context)).observations as [Observation];
  return { sent: body.license?.storeIdKey_purchases, renewed, key: again.refreshToken?.purchaseKey, again };
}

it('a key that was renewed is not lost to the older one that the client still sends', async () => {
  const { sent, renewed, key } = await validatedAgain({ kept: (token) => token });
  expect(renewed.purchaseKey).not.toBe(sent);
  expect(key).toBe(renewed.purchaseKey);
});

it('a key that only the table has is kept beside the one that the client sends', async () => {
  const { id } = await microsoft.bought({ productId: 'both keys' });
  const both = await microsoft.bodyOf(id, 'both');
  const collectionsKey = both.license?.storeIdKey_collections ?? '';
  const { again, sent } = await validatedAgain({ kept: () => ({ productId: 'both keys', collectionsKey }) });
  expect(again.refreshToken).toMatchObject({ purchaseKey: sent, collectionsKey, productId: 'renewed key' });
});

it.each([
  ['nothing', undefined],
  ['a key that cannot be read', { productId: 'x', purchaseKey: 'a.b.c' }],
  ['what is no refresh token', { other: 'x' }],
])('the key of the client is kept when the table has %s', async (_what, kept) => {
  const { sent, key } = await validatedAgain({ kept: () => kept });
  expect(key).toBe(sent);
});
