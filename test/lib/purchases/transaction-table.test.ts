import { beforeAll, describe, expect, it } from '@jest/globals';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { findTransaction, listTransactionsById } from '../../../lib/purchases/transaction-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const createPayment = (purchaseId: string, transactionId: string): Transaction =>
  createTransaction(createObservation({ purchaseId, transactionId }).purchase);

const buildItem = (appName: string, transaction: Transaction) => ({
  ...keys.transactionKey(appName, transaction.purchaseId, transaction.transactionId),
  ...keys.transactionIndexKeys(appName, transaction.purchaseId, transaction),
  transaction,
});

async function saveTransactions(...saved: readonly Transaction[]): Promise<string> {
  const appName = createUniqueName();
  await table.batchPut(saved.map((transaction) => buildItem(appName, transaction)));
  return appName;
}

describe('findTransaction and listTransactionsById', () => {
  it('finds the first payment and a renewal by their ids', async () => {
    const [first, renewal] = [createPayment('store_a:1', 'store_a:1'), createPayment('store_a:1', 'store_a:2')];
    const appName = await saveTransactions(first, renewal);
    expect(await findTransaction(service, appName, 'store_a:1')).toEqual(first);
    expect(await findTransaction(service, appName, 'store_a:2')).toEqual(renewal);
    expect(await findTransaction(service, appName, 'store_a:3')).toBeUndefined();
    expect(await findTransaction(service, createUniqueName(), 'store_a:1')).toBeUndefined();
    expect(await findTransaction(service, appName, 'x'.repeat(1500))).toBeUndefined();
  });

  it('builds no index keys for a transaction with the id of its purchase', async () => {
    const buildIndexKeys = (transactionId: string) =>
      keys.transactionIndexKeys('app', 'store_a:1', { transactionId, purchaseDate: startDate });
    expect(buildIndexKeys('store_a:1')).not.toHaveProperty('keyPk');
    expect(buildIndexKeys('store_a:2')).toHaveProperty('keyPk');
  });

  it('lists all transactions with an id, including the transaction of the purchase with that id', async () => {
    const transactionsOfId = [createPayment('store_b:1', 'store_b:1'), createPayment('store_b:1:b', 'store_b:1')];
    const appName = await saveTransactions(...transactionsOfId);
    expect(await listTransactionsById(service, appName, 'store_b:1')).toEqual(transactionsOfId);
  });
});
