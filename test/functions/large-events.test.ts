import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getEventRaw } from '../../lib/events/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { fetchEventList, givenEvent } from './event-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const fetchRaw = async (keys: IssuedApiKeys, id: string) =>
  (await callWithSecretKey(getEventRaw, keys, { params: { id } })).body;

describe('large event', () => {
  it('replaces an incompressible request body of 2 MB by a mark', async () => {
    const keys = await givenApp(table);
    const createNoise = () => ({ id: Array.from({ length: 7 }, () => randomUUID()).join(' ') });
    const createOffers = (depth: number): object =>
      depth === 0 ? createNoise() : { offers: Array.from({ length: 19 }, () => createOffers(depth - 1)) };
    const body = { products: createOffers(3) };
    expect(JSON.stringify(body).length).toBeGreaterThan(1_700_000);
    const raw = await fetchRaw(keys, await givenEvent(keys, { body }));
    expect(raw.request).toMatchObject({ route: '/v1/validate', body: '[trimmed]' });
    expect(raw.response.body.data.transaction).toEqual({ type: 'ios-store', transactionId: '1' });
  });

  it('keeps the first products of a validation with 2 MB of secrets and counts the others', async () => {
    const keys = await givenApp(table);
    const products = Array.from({ length: 20_000 }, (_, number) => ({
      id: `p${number}`,
      receipt: `${randomUUID()}${randomUUID()}`,
    }));
    const body = { id: 'p1', type: 'consumable', transaction: { type: 'android-store' }, products };
    await callWithSecretKey(validateReceipt, keys, { body });
    const [id = ''] = (await fetchEventList(keys)).ids;
    expect((await fetchRaw(keys, id)).request.body.products).toEqual([
      ...products.slice(0, 20).map((product) => ({ id: product.id, receipt: '[removed]' })),
      '[trimmed] 19980 more',
    ]);
  });

  it('keeps the first 50 of 500 calls to stores and counts the others', async () => {
    const keys = await givenApp(table);
    const raw = await fetchRaw(keys, await givenEvent(keys, { storeCalls: 500 }));
    expect(raw.externalRequests).toHaveLength(51);
    expect(raw.externalRequests[50].type).toBe('[trimmed] 450 more calls');
  });
});
