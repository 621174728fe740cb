import * as v from 'valibot';
import { toKey, transactionIdPartition, transactionKey } from '../foundation/keys.ts';
import type { Item, Table } from '../foundation/table.ts';
import { Transaction } from '../purchases/transaction.ts';
import type { TransactionRepository } from '../purchases/transaction-repository.ts';
import { parse } from '../shared/parse.ts';

const TransactionItem = v.object({ transaction: Transaction });

/**
 * Maximum length of a sort key. DynamoDB rejects a request with a longer one.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maxSortKeyBytes = 1024;

export function createTransactionRepository(table: Table): TransactionRepository {
  /** Finds the transaction whose purchase has the same id. The index does not contain it. */
  const findByPurchaseKey = async (appName: string, id: string): Promise<Transaction | undefined> => {
    const key = transactionKey(appName, id, id);
    if (Buffer.byteLength(key.sk) > maxSortKeyBytes) return undefined;
    const item = await table.get(key);
    return item && parseTransactionItem(item);
  };
  const listByIndex = async (appName: string, transactionId: string, limit?: number): Promise<Transaction[]> => {
    const entries = await table.query({
      partition: transactionIdPartition(appName, transactionId),
      index: 'byKey',
      ...(limit !== undefined && { limit }),
    });
    const items = await Promise.all(entries.map((entry) => table.get(toKey(entry))));
    return items.flatMap((item) => (item ? [parseTransactionItem(item)] : []));
  };
  return {
    find: async (appName, transactionId) =>
      (await findByPurchaseKey(appName, transactionId)) ?? (await listByIndex(appName, transactionId, 1))[0],
    async listById(appName, transactionId) {
      const [own, indexed] = await Promise.all([
        findByPurchaseKey(appName, transactionId),
        listByIndex(appName, transactionId),
      ]);
      return own ? [own, ...indexed] : indexed;
    },
  };
}

/** Parses a transaction item. Throws `DatabaseError` if it does not match the schema. */
export const parseTransactionItem = (item: Item): Transaction =>
  parse(TransactionItem, item, 'DatabaseError').transaction;
