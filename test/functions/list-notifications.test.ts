import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { getPurchase, listPurchases } from '../../lib/api/purchases.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction, dayMs, givenApp } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

const boughtAt = Date.now() - 30 * dayMs;
/** A store renews a little before the end. */
const renewedAt = Date.now() - dayMs / 2;

/** What is seen of a subscription at its start, and after a renewal. */
const bought = (id: string) =>
  createObservation({
    ...{ purchaseId: `store_a:${id}`, transactionId: `store_a:${id}` },
    ...{ purchaseDate: boughtAt, expirationDate: boughtAt + 31 * dayMs },
  });
function renewed(id: string) {
  const first = bought(id);
  const purchase = {
    ...first.purchase,
    transactionId: `store_a:${id}-2`,
    lastRenewalDate: renewedAt,
    expirationDate: boughtAt + 62 * dayMs,
  };
  return { ...first, asOf: renewedAt, purchase, transactions: [...first.transactions, createTransaction(purchase)] };
}

let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await givenApp(await createTestTable());
  for (const look of [bought('1'), renewed('1'), bought('2')]) await givenPurchase(keys.appName, 'ann', look);
});

const ask = async (contract: Contract, query: Record<string, string>) =>
  (
    await callEndpoint(contract, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params: { purchaseId: 'store_a:1' },
      query,
    })
  ).body;

/** The reasons that each row tells, by its id. */
const told = (rows: { transactionId: string; notifications: { reason: string; date: string }[] }[]) =>
  Object.fromEntries(rows.map((row) => [row.transactionId, row.notifications.map(({ reason }) => reason)]));

const byDate = { startdate: new Date(boughtAt - dayMs).toISOString() };
const asked = [
  ['all rows', {}],
  ['the rows since a date', byDate],
] as const;

describe('the notifications of a purchase', () => {
  it.each(asked)('are in its row when %s are asked for with them', async (_which, query) => {
    const { rows } = await ask(listPurchases, { ...query, include_notifications: 'true' });
    expect(told(rows)).toEqual({ 'store_a:1-2': ['PURCHASED', 'RENEWED'], 'store_a:2': ['PURCHASED'] });
  });

  it.each(asked)(
    'are in the row of each of its transactions when %s are asked for with them',
    async (_which, query) => {
      const { rows } = await ask(listTransactions, { ...query, include_notifications: 'true' });
      expect(told(rows)).toEqual({
        'store_a:1': ['PURCHASED', 'RENEWED'],
        'store_a:1-2': ['PURCHASED', 'RENEWED'],
        'store_a:2': ['PURCHASED'],
      });
    },
  );

  it('have a date and a reason, and are the same in the purchase itself', async () => {
    const { rows } = await ask(listPurchases, { include_notifications: 'true' });
    const { notifications } = await ask(getPurchase, { include_notifications: 'true' });
    const row = rows.find(({ purchaseId }: { purchaseId: string }) => purchaseId === 'store_a:1');
    expect(row.notifications).toEqual(notifications);
    for (const notification of notifications) expect(Object.keys(notification).sort()).toEqual(['date', 'reason']);
  });

  it.each([undefined, '', 'false', '1', 'TRUE', 'yes', ' true'])(
    'are not told when %j asks for them',
    async (value) => {
      const wanted = value === undefined ? {} : { include_notifications: value };
      for (const dates of [{}, byDate]) {
        const query = { ...dates, ...wanted };
        const rows = [...(await ask(listPurchases, query)).rows, ...(await ask(listTransactions, query)).rows];
        expect(rows).toHaveLength(5);
        for (const row of rows) expect(row).not.toHaveProperty('notifications');
      }
      expect(await ask(getPurchase, wanted)).not.toHaveProperty('notifications');
    },
  );
});

describe('the rows of a list', () => {
  it.each([listPurchases, listTransactions])('are skipped by either name of the number ($id)', async (contract) => {
    const page = async (query: Record<string, string>) => {
      const { paging, rows } = await ask(contract, query);
      return { skip: paging.skip, ids: rows.map(({ transactionId }: { transactionId: string }) => transactionId) };
    };
    const all = (await page({})).ids;
    expect(await page({ offset: '1' })).toEqual({ skip: 1, ids: all.slice(1) });
    expect(await page({ skip: '1' })).toEqual({ skip: 1, ids: all.slice(1) });
    expect(await page({ skip: '1', offset: '0' })).toEqual({ skip: 1, ids: all.slice(1) });
    expect(await page({ skip: '', offset: '1', limit: '' })).toEqual({ skip: 1, ids: all.slice(1) });
    expect(await page({ skip: '0', offset: '1' })).toEqual({ skip: 0, ids: all });
  });
});
