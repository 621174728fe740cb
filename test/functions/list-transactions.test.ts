import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
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

  it('returns only the transactions of the purchase in purchaseId, in the range, oldest first', async () => {
    const keys = await givenApp(table);
    for (const id of ['store_a:1', 'store_a:2']) {
      const observation = createObservation({ purchaseId: id, transactionId: id, purchaseDate: paidAt });
      const renewals = [2, 1, 0].map((day) =>
        createTransaction(observation.purchase, {
          transactionId: `${id}-${day}`,
          purchaseDate: paidAt + day * dayMs,
        }),
      );
      await givenPurchase(keys.appName, 'ann', { ...observation, transactions: renewals });
    }
    const list = async (query: Record<string, string>, app = keys) => {
      const { body } = await callWithSecretKey(listTransactions, app, { query });
      return { ids: body.rows.map(({ transactionId }: { transactionId: string }) => transactionId), ...body.paging };
    };
    const ids = ['store_a:1-0', 'store_a:1-1', 'store_a:1-2'];
    const purchaseId = 'store_a:1';
    expect(await list({ purchaseId })).toEqual({ ids, skip: 0, limit: 100, total: 3 });
    // An id in the vocabulary of the brands.
    expect((await list({ purchaseId: 'apple:1' })).ids).toEqual(ids);
    expect(await list({ purchaseId, skip: '1', limit: '1' })).toEqual({
      skip: 1,
      limit: 1,
      total: 3,
      ids: ids.slice(1, 2),
    });
    const [startdate, enddate] = [dayMs, 2 * dayMs].map((ms) => new Date(paidAt + ms).toISOString());
    expect((await list({ purchaseId, startdate: startdate ?? '', enddate: enddate ?? '' })).ids).toEqual(
      ids.slice(1, 2),
    );
    expect((await list({ purchaseId: 'store_a:9' })).ids).toEqual([]);
    expect((await list({ purchaseId }, await givenApp(table))).ids).toEqual([]);
  });
});
