import type { CursorPage } from '../shared/cursor-page.ts';
import type { ListPage, PageRequest, RowSearch } from '../shared/list-page.ts';
import type { Transaction } from './transaction.ts';

/** The lists of the transactions of all apps. */
export interface TransactionListRepository {
  /** The cost does not depend on `skip`: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, request: PageRequest): Promise<ListPage<Transaction>>;
  /** Finds the transactions that match, by purchase date. */
  find(appName: string, search: RowSearch<Transaction>): Promise<CursorPage<Transaction>>;
}
