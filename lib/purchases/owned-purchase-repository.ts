import type { CursorPage } from '../shared/cursor-page.ts';
import type { RowSearch } from '../shared/list-page.ts';
import type { Purchase } from './purchase.ts';
import type { Transaction } from './transaction.ts';

export interface TransactionPage {
  readonly skip: number;
  readonly limit: number;
}

export interface OwnedTransactions {
  readonly transactions: readonly Transaction[];
  readonly purchases: readonly Purchase[];
}

/**
 * Reads of the purchases that entitle a customer. The cost does not grow with their number: see docs/decisions/0013.
 */
export interface OwnedPurchaseRepository {
  /**
   * Lists the purchases that decide every response about the customer, at any time. Returns all purchases if there are
   * at most 100, otherwise the latest purchase and the best ones of each product, in and out of the sandbox.
   * `subscriptions` leaves out other products.
   */
  listRepresentativePurchases(
    appName: string,
    username: string,
    products?: 'all' | 'subscriptions',
  ): Promise<Purchase[]>;
  /**
   * Lists the ids of the purchases with the latest purchase dates, at most 10,000, oldest first. Some can be lost
   * since.
   */
  listPurchaseIds(appName: string, username: string): Promise<string[]>;
  /** Lists a page of the transactions of the customer's purchases, latest first. */
  listTransactions(appName: string, username: string, page: TransactionPage): Promise<Transaction[]>;
  /** Lists the same page, with the representative purchases of the customer. */
  listWithTransactions(appName: string, username: string, page: TransactionPage): Promise<OwnedTransactions>;
  /** Lists the same page, with the purchases of its transactions. */
  listTransactionPage(appName: string, username: string, page: TransactionPage): Promise<OwnedTransactions>;
  /** Finds the transactions of the customer's purchases that match, by purchase date. */
  findTransactions(appName: string, username: string, search: RowSearch<Transaction>): Promise<CursorPage<Transaction>>;
}
