import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases, listCustomers } from '../../lib/customers/contract.ts';
import { getCustomerEntitlements } from '../../lib/entitlements/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Key } from '../../lib/foundation/key.ts';
import { customerKey, notificationKey, purchaseKey, transactionKey } from '../../lib/foundation/keys.ts';
import type { Item } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { getPurchase, listPurchases } from '../../lib/purchases/contract.ts';
import { getTransaction, listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { paidAt } from './purchase-fixture.ts';

const table = startBeforeAll(createTestTable);
let keys: IssuedApiKeys;
let purchaseKeyOf2: Key;

/** Records purchases 1 to 3 of ann, ben and cleo, each with the transaction of the same id. */
async function givenPurchases(): Promise<void> {
  for (const [index, username] of ['ann', 'ben', 'cleo'].entries()) {
    const purchaseDate = paidAt + index;
    const { purchase } = createObservation({
      purchaseId: `store_a:p${index + 1}`,
      transactionId: `store_a:t${index + 1}`,
      purchaseDate,
      expirationDate: purchaseDate + 30 * dayMs,
    });
    const transactions = [createTransaction(purchase)];
    await givenPurchase(keys.appName, username, { asOf: purchaseDate, purchase, transactions, userAliases: [] });
  }
  purchaseKeyOf2 = purchaseKey(keys.appName, 'store_a:p2');
}

beforeEach(async () => {
  keys = await givenApp(table);
});

const damage = async (key: Key, changes: Item) => await table.batchPut([{ ...(await table.get(key)), ...changes }]);
const damagePurchase = async () => await damage(purchaseKeyOf2, { entitledUsers: 7 });

/** Damages the lifecycle notification of the second purchase. */
async function damageNotification(): Promise<void> {
  const prefix = notificationKey.sortKey();
  const [item] = await table.query({ partition: purchaseKeyOf2.pk, prefix });
  await table.batchPut([{ ...item, date: 'yesterday' }]);
}

const startdate = new Date(paidAt - dayMs).toISOString();
const idFields = { 'list-purchases': 'purchaseId', 'list-transactions': 'transactionId' } as const;
type List = typeof listPurchases | typeof listTransactions | typeof listCustomers;

/** Calls the list. Returns the ids of its rows, the paging, the ids that it left out, and the logged errors. */
async function readList(contract: List, query: Query) {
  const log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const { status, body } = await callWithSecretKey(contract, keys, { query });
  const logged = log.mock.calls.map(([entry]) => entry as Readonly<Record<string, unknown>>);
  log.mockRestore();
  expect(status).toBe(200);
  const idField = contract.id === 'list-customers' ? 'applicationUsername' : idFields[contract.id];
  return { ids: body.rows.map((row: Readonly<Record<string, string>>) => row[idField]), logged, body };
}

type Query = Readonly<Record<string, string>>;
type Case = readonly [list: List, query: Query, damage: () => Promise<void>, id: string];

const damageTransaction = async () =>
  await damage(transactionKey(keys.appName, 'store_a:p2', 'store_a:t2'), { transaction: 7 });
const damageCustomer = async () => await damage(customerKey(keys.appName, 'ben'), { summary: 7 });
const notified = { include_notifications: 'true' };
const cases: readonly Case[] = [
  [listPurchases, {}, damagePurchase, 'store_a:p2'],
  [listPurchases, { startdate }, damagePurchase, 'store_a:p2'],
  [listPurchases, notified, damagePurchase, 'store_a:p2'],
  [listPurchases, notified, damageNotification, 'store_a:p2'],
  [listPurchases, { startdate, ...notified }, damageNotification, 'store_a:p2'],
  ...[{}, { startdate }, { order: 'oldest' }, { include_customers: 'true' }].flatMap((query: Query): Case[] => [
    [listTransactions, query, damagePurchase, 'store_a:t2'],
    [listTransactions, query, damageTransaction, 'store_a:t2'],
  ]),
  [listTransactions, notified, damageNotification, 'store_a:t2'],
  ...[{}, { order: 'oldest' }, { applicationUsername: 'ann,ben,cleo' }].map(
    (query: Query): Case => [listCustomers, query, damageCustomer, 'ben'],
  ),
];

describe('a list with an item that is not readable', () => {
  it.each(cases.map((row) => [row[0].id, row[1], row[3], row] as const))(
    '%s with %j returns the other rows and names %s',
    async (_list, _query, id, [contract, query, damageItem]) => {
      await givenPurchases();
      const before = await readList(contract, query);
      expect(before.ids).toHaveLength(3);
      const unreadable = contract === listCustomers ? 'unreadableUsers' : 'unreadableIds';
      expect(before.body).not.toHaveProperty(unreadable);
      await damageItem();
      const { ids, body, logged } = await readList(contract, query);
      expect(ids).toEqual(before.ids.filter((other: string) => other !== id));
      expect(body[unreadable]).toEqual([id]);
      expect(body.rows).toEqual([before.body.rows[0], before.body.rows[2]]);
      expect(logged).toEqual([
        expect.objectContaining({ problem: 'RowUnreadable', app: keys.appName, code: 'DatabaseError' }),
      ]);
      // Above the number of the rows, it would report that they do not fit.
      if ('startdate' in query && contract === listPurchases)
        expect(body.paging).toEqual({ skip: 0, limit: 2, total: 2 });
    },
  );

  it('names the ids in the vocabulary of the app', async () => {
    await changeSettings(getService(), keys.appName, { vocabulary: 'brand' });
    await givenPurchases();
    await damagePurchase();
    expect((await readList(listPurchases, {})).body.unreadableIds).toEqual(['apple:p2']);
  });

  it.each([
    ['get-purchase', getPurchase, { params: { purchaseId: 'store_a:p2' } }],
    ['get-transaction', getTransaction, { params: { transactionId: 'store_a:t2' } }],
    ['get-customer-purchases', getCustomerPurchases, { params: { applicationUsername: 'ben' } }],
    ['get-customer-entitlements', getCustomerEntitlements, { params: { applicationUsername: 'ben' } }],
    ['list-purchases with customerId', listPurchases, { query: { customerId: 'ben' } }],
    ['list-transactions with purchaseId', listTransactions, { query: { purchaseId: 'store_a:p2' } }],
    ['list-transactions of a customer', listTransactions, { query: { applicationUsername: 'ben' } }],
  ] as const)('leaves %s a failure, which access depends on', async (_title, contract, options) => {
    await givenPurchases();
    await damagePurchase();
    const log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { status, body } = await callWithSecretKey(contract, keys, options);
    log.mockRestore();
    expect([status, body.code]).toEqual([500, 'DatabaseError']);
  });
});
