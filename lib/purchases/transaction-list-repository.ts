import type { ListPage, PageRequest } from '../shared/list-page.ts';
import type { Transaction } from './transaction.ts';

/** The lists of the transactions of all apps. */
export interface TransactionListRepository {
  /** The cost does not depend on `skip`: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, request: PageRequest): Promise<ListPage<Transaction>>;
}
