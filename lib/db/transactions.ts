import * as v from 'valibot';
import { parse } from '../parse.ts';
import { Transaction } from '../transactions/transaction.ts';
import { transactionIdPartition } from './keys.ts';
import type { Item, Table } from './table.ts';

const TransactionItem = v.object({ transaction: Transaction });

/** Transactions by their own id. */
export interface Transactions {
  find(app: string, transactionId: string): Promise<Transaction | undefined>;
  /** All with this id: a store may give one to several products that were bought together. */
  named(app: string, transactionId: string): Promise<Transaction[]>;
}

export function transactionsOf(table: Table): Transactions {
  const read = async (app: string, transactionId: string, limit?: number): Promise<Transaction[]> => {
    const entries = await table.query({
      partition: transactionIdPartition(app, transactionId),
      index: 'byKey',
      ...(limit !== undefined && { limit }),
    });
    const items = await Promise.all(entries.map(({ pk, sk }) => table.get({ pk: String(pk), sk: String(sk) })));
    return items.flatMap((item) => (item ? [listedTransaction(item)] : []));
  };
  return {
    find: async (app, transactionId) => (await read(app, transactionId, 1))[0],
    named: async (app, transactionId) => await read(app, transactionId),
  };
}

/** The item of a transaction as reads see it. */
export const listedTransaction = (item: Item): Transaction => parse(TransactionItem, item, 'DatabaseError').transaction;
