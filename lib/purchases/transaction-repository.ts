import type { Transaction } from './transaction.ts';

/** The transactions of all apps, by their ids. */
export interface TransactionRepository {
  find(appName: string, transactionId: string): Promise<Transaction | undefined>;
  /** Lists the transactions with this id: a store can use one id for several products that were bought together. */
  listById(appName: string, transactionId: string): Promise<Transaction[]>;
}
