import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import { answering, askingWith, type Microsoft, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
let body: ValidationRequest;
beforeAll(async () => {
  microsoft = await useMicrosoft();
  body = (await microsoft.bought({ productId: 'asked for' })).body;
});
afterAll(() => microsoft.close());

const subscription = (id: string, startTime: string, expirationTime: string, more: object = {}) => ({
  id,
  productId: 'asked for',
  recurrenceState: 'Active',
  autoRenew: false,
  startTime: `${startTime}T00:00:00Z`,
  expirationTime: `${expirationTime}T00:00:00Z`,
  ...more,
});

/** Validates against a Microsoft whose pages of subscriptions are these. */
async function chosen(...pages: object[][]) {
  const asked: Record<string, unknown>[] = [];
  const fetch = answering((_url, init) => {
    asked.push(JSON.parse(init.body ?? ''));
    const items = pages[asked.length - 1] ?? [];
    return {
      text: JSON.stringify({ items, continuationToken: asked.length < pages.length ? `page ${asked.length}` : null }),
    };
  });
  const { sandboxId: _none, ...settings } = microsoft.settings('store_c');
  return { asked, ...(await storeC.validate(body, askingWith(fetch, settings))) };
}

it('of several purchases of the product, it speaks of the one that still counts', async () => {
  const running = subscription('running', '2026-01-01', '2027-12-31');
  const ended = subscription('ended', '2027-01-01', '2027-01-30');
  expect(await chosen([running, ended])).toMatchObject({ purchaseId: 'store_c:running', native: { id: 'running' } });
  expect(await chosen([ended, running])).toMatchObject({ purchaseId: 'store_c:running' });
});

it('of several ended ones, it speaks of the latest', async () => {
  const older = subscription('older', '2026-01-01', '2026-01-31');
  const newer = subscription('newer', '2026-03-01', '2026-03-31');
  for (const items of [
    [older, newer],
    [newer, older],
  ]) {
    const { purchaseId, observations } = await chosen(items);
    expect({ purchaseId, seen: observations.length }).toEqual({ purchaseId: 'store_c:newer', seen: 2 });
  }
});

it('shows nothing of other products of the publisher, which may be those of another application', async () => {
  const other = subscription('other', '2026-01-01', '2027-12-31', { productId: 'another' });
  const own = subscription('own', '2026-01-01', '2027-12-31', { productId: 'ASKED FOR' });
  const { observations } = await chosen([other, own]);
  expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_c:own']);
});

it('reads page after page', async () => {
  const one = subscription('one', '2026-01-01', '2026-01-31');
  const two = subscription('two', '2026-03-01', '2027-12-31');
  const { asked, observations } = await chosen([one], [], [two]);
  expect(observations).toHaveLength(2);
  expect(asked.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 'page 1', 'page 2']);
});

it('does not even ask with a key that has expired, and does without one that is not needed', async () => {
  const other = await useMicrosoft();
  const { id } = await other.bought({ autoRenew: true });
  const { license: old = {} } = await other.bodyOf(id, 'both');
  await other.advance('P31D');
  const fresh = await other.bodyOf(id, 'both');
  await expect(other.validate({ ...fresh, license: old })).rejects.toMatchObject({ code: 'NeedMoreData' });
  expect(other.calls.map(({ url }) => new URL(url).host)).toEqual(['login.microsoftonline.com']);
  const unneeded = { ...fresh.license, storeIdKey_collections: old.storeIdKey_collections ?? '' };
  expect(await other.validate({ ...fresh, license: unneeded })).toMatchObject({ purchaseId: `store_c:${id}` });
  await other.close();
});
