import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import { createContext, createFetch, type Microsoft, startMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
let body: ValidationRequest;
beforeAll(async () => {
  microsoft = await startMicrosoft();
  body = (await microsoft.createPurchase({ productId: 'requested' })).body;
});
afterAll(() => microsoft.close());

const createSubscription = (id: string, startDate: string, expirationDate: string, changes: object = {}) => ({
  id,
  productId: 'requested',
  recurrenceState: 'Active',
  autoRenew: false,
  startTime: `${startDate}T00:00:00Z`,
  expirationTime: `${expirationDate}T00:00:00Z`,
  ...changes,
});

/** Validates against a service that returns these pages of subscriptions. */
async function validatePages(...pages: object[][]) {
  const queries: Record<string, unknown>[] = [];
  const fetch = createFetch((_url, init) => {
    queries.push(JSON.parse(init.body ?? ''));
    const items = pages[queries.length - 1] ?? [];
    const continuationToken = queries.length < pages.length ? `page ${queries.length}` : null;
    return { text: JSON.stringify({ items, continuationToken }) };
  });
  const { sandboxId: _sandboxId, ...settings } = microsoft.settings('store_c');
  return { queries, ...(await microsoftStore.validate(body, createContext(fetch, settings))) };
}

describe('validate (Microsoft Store) of a product with several purchases', () => {
  it('chooses the active purchase', async () => {
    const active = createSubscription('active', '2026-01-01', '2027-12-31');
    const expired = createSubscription('expired', '2027-01-01', '2027-01-30');
    expect(await validatePages([active, expired])).toMatchObject({
      purchaseId: 'store_c:active',
      nativeTransaction: { id: 'active' },
    });
    expect(await validatePages([expired, active])).toMatchObject({ purchaseId: 'store_c:active' });
  });

  it('chooses the latest purchase if all are expired', async () => {
    const older = createSubscription('older', '2026-01-01', '2026-01-31');
    const newer = createSubscription('newer', '2026-03-01', '2026-03-31');
    for (const items of [
      [older, newer],
      [newer, older],
    ]) {
      const { purchaseId, observations } = await validatePages(items);
      expect({ purchaseId, count: observations.length }).toEqual({ purchaseId: 'store_c:newer', count: 2 });
    }
  });

  it("ignores the publisher's other products, which can belong to another app", async () => {
    const foreign = createSubscription('foreign', '2026-01-01', '2027-12-31', { productId: 'another' });
    const own = createSubscription('own', '2026-01-01', '2027-12-31', { productId: 'REQUESTED' });
    const { observations } = await validatePages([foreign, own]);
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_c:own']);
  });

  it('does not rely on a part of the pages', async () => {
    const last = createSubscription('last', '2026-03-01', '2027-12-31');
    const pages = (count: number) => [...Array.from({ length: count }, () => []), [last]];
    expect((await validatePages(...pages(40))).purchaseId).toBe('store_c:last');
    await expect(validatePages(...pages(120))).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('reads all pages', async () => {
    const first = createSubscription('first', '2026-01-01', '2026-01-31');
    const second = createSubscription('second', '2026-03-01', '2027-12-31');
    const { queries, observations } = await validatePages([first], [], [second]);
    expect(observations).toHaveLength(2);
    expect(queries.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 'page 1', 'page 2']);
  });
});

describe('validate (Microsoft Store) with an expired StoreID key', () => {
  it('sends no query with it and ignores it if it is not needed', async () => {
    const other = await startMicrosoft();
    const { id } = await other.createPurchase({ autoRenew: true });
    const { license: expired = {} } = await other.getRequest(id, 'both');
    await other.advance('P31D');
    const request = await other.getRequest(id, 'both');
    await expect(other.validate({ ...request, license: expired })).rejects.toMatchObject({ code: 'NeedMoreData' });
    expect(other.calls.map(({ url }) => new URL(url).host)).toEqual(['login.microsoftonline.com']);
    const license = { ...request.license, storeIdKey_collections: expired.storeIdKey_collections ?? '' };
    expect(await other.validate({ ...request, license })).toMatchObject({ purchaseId: `store_c:${id}` });
    await other.close();
  });
});
