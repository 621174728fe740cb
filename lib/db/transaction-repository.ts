import * as v from 'valibot';
import { Transaction } from '../purchases/transaction.ts';
import { parse } from '../shared/parse.ts';
import { transactionIdPartition, transactionKey } from './keys.ts';
import type { Item, Table } from './table.ts';

const TransactionItem = v.object({ transaction: Transaction });

/** Transactions by their own id. */
export interface TransactionRepository {
  find(appName: string, transactionId: string): Promise<Transaction | undefined>;
  /** All with this id: a store may give one to several products that were bought together. */
  listById(appName: string, transactionId: string): Promise<Transaction[]>;
}

/** No item has a longer one, and DynamoDB refuses to be asked for it. */
const maxSortKeyBytes = 1024;

export function createTransactionRepository(table: Table): TransactionRepository {
  /** The one of the purchase that has the same id: it is not in the index. */
  const findByPurchaseKey = async (appName: string, id: string): Promise<Transaction | undefined> => {
    const key = transactionKey(appName, id, id);
    if (Buffer.byteLength(key.sk) > maxSortKeyBytes) return undefined;
    const item = await table.get(key);
    return item && parseTransactionItem(item);
  };
  const findByIndex = async (appName: string, transactionId: string, limit?: number): Promise<Transaction[]> => {
    const entries = await table.query({
      partition: transactionIdPartition(appName, transactionId),
      index: 'byKey',
      ...(limit !== undefined && { limit }),
    });
    const items = await Promise.all(entries.map(({ pk, sk }) => table.get({ pk: String(pk), sk: String(sk) })));
    return items.flatMap((item) => (item ? [parseTransactionItem(item)] : []));
  };
  return {
    find: async (appName, transactionId) =>
      (await findByPurchaseKey(appName, transactionId)) ?? (await findByIndex(appName, transactionId, 1))[0],
    async listById(appName, transactionId) {
      const [own, others] = await Promise.all([
        findByPurchaseKey(appName, transactionId),
        findByIndex(appName, transactionId),
      ]);
      // Entries of the index from when it held all of them.
      const rest = others.filter(({ purchaseId }) => purchaseId !== own?.purchaseId);
      return own ? [own, ...rest] : rest;
    },
  };
}

/** The item of a transaction as reads see it. */
export const parseTransactionItem = (item: Item): Transaction =>
  parse(TransactionItem, item, 'DatabaseError').transaction;
