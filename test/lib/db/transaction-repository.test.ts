import { beforeAll, expect, it } from '@jest/globals';
import * as keys from '../../../lib/db/keys.ts';
import type { Table } from '../../../lib/db/table.ts';
import { createTransactionRepository, type TransactionRepository } from '../../../lib/db/transaction-repository.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let transactions: TransactionRepository;
beforeAll(async () => {
  table = await createTestTable();
  transactions = createTransactionRepository(table);
});

const payment = (purchaseId: string, transactionId: string): Transaction =>
  createTransaction(createObservation({ purchaseId, transactionId }).purchase);

const itemOf = (appName: string, transaction: Transaction) => ({
  ...keys.transactionKey(appName, transaction.purchaseId, transaction.transactionId),
  ...keys.transactionIndexKeys(appName, transaction.purchaseId, transaction),
  transaction,
});

async function stored(...given: readonly Transaction[]): Promise<string> {
  const appName = createUniqueName();
  await table.batchPut(given.map((transaction) => itemOf(appName, transaction)));
  return appName;
}

it('finds the first payment and a renewal by their ids', async () => {
  const [first, renewal] = [payment('store_a:1', 'store_a:1'), payment('store_a:1', 'store_a:2')];
  const appName = await stored(first, renewal);
  expect(await transactions.find(appName, 'store_a:1')).toEqual(first);
  expect(await transactions.find(appName, 'store_a:2')).toEqual(renewal);
  expect(await transactions.find(appName, 'store_a:3')).toBeUndefined();
  expect(await transactions.find(createUniqueName(), 'store_a:1')).toBeUndefined();
  expect(await transactions.find(appName, 'x'.repeat(1500))).toBeUndefined();
});

it('writes no entry of an index for a transaction that has the id of its purchase', async () => {
  const index = (transactionId: string) =>
    keys.transactionIndexKeys('app', 'store_a:1', { transactionId, purchaseDate: startDate });
  expect(index('store_a:1')).not.toHaveProperty('keyPk');
  expect(index('store_a:2')).toHaveProperty('keyPk');
});

it('names all transactions of one id, also that of the purchase of the same id', async () => {
  const bought = [payment('store_b:1', 'store_b:1'), payment('store_b:1:b', 'store_b:1')];
  const appName = await stored(...bought);
  expect(await transactions.listById(appName, 'store_b:1')).toEqual(bought);
});

it('names a transaction once whose entry was written when the index held all of them', async () => {
  const first = payment('store_a:1', 'store_a:1');
  const appName = createUniqueName();
  await table.batchPut([
    {
      ...itemOf(appName, first),
      keyPk: keys.transactionIdPartition(appName, 'store_a:1'),
      keySk: keys.toSortableTimestamp(startDate),
    },
  ]);
  expect(await transactions.listById(appName, 'store_a:1')).toEqual([first]);
  expect(await transactions.find(appName, 'store_a:1')).toEqual(first);
});
