import { beforeAll, describe, expect, it } from '@jest/globals';
import { listPurchases } from '../../lib/api/purchases.ts';
import type { Table } from '../../lib/db/table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/purchases', () => {
  it('returns purchases with their entitled users, by creation or by their last change', async () => {
    const keys = await givenApp(table);
    const today = new Date().toISOString().slice(0, 10);
    await givenPaidPurchase(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callWithSecretKey(listPurchases, keys, { query })).body;
    expect((await list({})).rows).toMatchObject([{ purchaseId: 'store_a:1', entitledUsers: ['ann'] }]);
    expect((await list({ startdate: today, limit: '1', skip: '5', include_notifications: 'true' })).rows).toMatchObject(
      [{ purchaseId: 'store_a:1', notifications: [{ reason: 'PURCHASED' }] }],
    );
    expect((await list({ enddate: today })).rows).toEqual([]);
    expect((await list({ offset: '1' })).rows).toEqual([]);
  });
});
