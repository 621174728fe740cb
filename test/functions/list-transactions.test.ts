import { beforeAll, describe, expect, it } from '@jest/globals';
import { listTransactions } from '../../lib/api/transactions.ts';
import type { Table } from '../../lib/db/table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/transactions', () => {
  it('returns the transactions whose purchase date is in the range, the end excluded', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callWithSecretKey(listTransactions, keys, { query })).body.rows;
    const purchaseDate = new Date(paidAt).toISOString();
    expect(await list({ startdate: purchaseDate })).toMatchObject([{ transactionId: 'store_a:1', amountUSD: 4.99 }]);
    expect(await list({ enddate: purchaseDate })).toEqual([]);
  });
});
