import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { getPurchase, listPurchases } from '../../lib/purchases/contract.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const boughtAt = Date.now() - 30 * dayMs;

/** Stores renew shortly before the end. */
const renewedAt = Date.now() - dayMs / 2;

/** Builds the observation of a subscription at its start. */
const buildFirst = (id: string) =>
  createObservation({
    purchaseId: `store_a:${id}`,
    transactionId: `store_a:${id}`,
    purchaseDate: boughtAt,
    expirationDate: boughtAt + 31 * dayMs,
  });
/** Builds the observation of the subscription after a renewal. */
function buildRenewed(id: string) {
  const first = buildFirst(id);
  const purchase = {
    ...first.purchase,
    transactionId: `store_a:${id}-2`,
    lastRenewalDate: renewedAt,
    expirationDate: boughtAt + 62 * dayMs,
  };
  return { ...first, asOf: renewedAt, purchase, transactions: [...first.transactions, createTransaction(purchase)] };
}

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));
beforeAll(async () => {
  for (const observation of [buildFirst('1'), buildRenewed('1'), buildFirst('2')])
    await givenPurchase(keys.appName, 'ann', observation);
});

const call = async (contract: Contract, query: Record<string, string>) =>
  (
    await callEndpoint(contract, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params: { purchaseId: 'store_a:1' },
      query,
    })
  ).body;

/** Returns the reasons of each row by transaction id. */
const toReasons = (rows: { transactionId: string; notifications: { reason: string; date: string }[] }[]) =>
  Object.fromEntries(rows.map((row) => [row.transactionId, row.notifications.map(({ reason }) => reason)]));

const byDate = { startdate: new Date(boughtAt - dayMs).toISOString() };
const queries = [
  ['all rows', {}],
  ['the rows since a date', byDate],
] as const;

describe('include_notifications', () => {
  it.each(queries)('adds the notifications to %s of listPurchases', async (_which, query) => {
    const { rows } = await call(listPurchases, { ...query, include_notifications: 'true' });
    expect(toReasons(rows)).toEqual({ 'store_a:1-2': ['PURCHASED', 'RENEWED'], 'store_a:2': ['PURCHASED'] });
  });

  it.each(queries)('adds the notifications of the purchase to %s of listTransactions', async (_which, query) => {
    const { rows } = await call(listTransactions, { ...query, include_notifications: 'true' });
    expect(toReasons(rows)).toEqual({
      'store_a:1': ['PURCHASED', 'RENEWED'],
      'store_a:1-2': ['PURCHASED', 'RENEWED'],
      'store_a:2': ['PURCHASED'],
    });
  });

  it('returns date and reason, as getPurchase does', async () => {
    const { rows } = await call(listPurchases, { include_notifications: 'true' });
    const { notifications } = await call(getPurchase, { include_notifications: 'true' });
    const row = rows.find(({ purchaseId }: { purchaseId: string }) => purchaseId === 'store_a:1');
    expect(row.notifications).toEqual(notifications);
    for (const notification of notifications) expect(Object.keys(notification).sort()).toEqual(['date', 'reason']);
  });

  it.each([undefined, '', 'false', '1', 'TRUE', 'yes', ' true'])(
    'omits the notifications for include_notifications=%j',
    async (value) => {
      const query = value === undefined ? {} : { include_notifications: value };
      for (const dates of [{}, byDate]) {
        const datedQuery = { ...dates, ...query };
        const rows = [
          ...(await call(listPurchases, datedQuery)).rows,
          ...(await call(listTransactions, datedQuery)).rows,
        ];
        expect(rows).toHaveLength(5);
        for (const row of rows) expect(row).not.toHaveProperty('notifications');
      }
      expect(await call(getPurchase, query)).not.toHaveProperty('notifications');
    },
  );
});

describe('skip and offset of a list', () => {
  it.each([listPurchases, listTransactions])('skip rows of $id', async (contract) => {
    const page = async (query: Record<string, string>) => {
      const { paging, rows } = await call(contract, query);
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
