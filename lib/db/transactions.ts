import * as v from 'valibot';
import { parse } from '../parse.ts';
import { Transaction } from '../transactions/transaction.ts';
import { transactionIdPartition } from './keys.ts';
import type { Table } from './table.ts';

const TransactionItem = v.object({ transaction: Transaction });

/** Transactions by their own id. */
export interface Transactions {
  find(app: string, transactionId: string): Promise<Transaction | undefined>;
}

export function transactionsOf(table: Table): Transactions {
  return {
    async find(app, transactionId) {
      const [entry] = await table.query({
        partition: transactionIdPartition(app, transactionId),
        index: 'byKey',
        limit: 1,
      });
      if (!entry) return undefined;
      const item = await table.get({ pk: String(entry.pk), sk: String(entry.sk) });
      return item && parse(TransactionItem, item, 'DatabaseError').transaction;
    },
  };
}
