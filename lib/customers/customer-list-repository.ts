import type { CursorPage } from '../shared/cursor-page.ts';
import type { ListPage, PageRequest, RowSearch } from '../shared/list-page.ts';
import type { CustomerRow } from './customer-summary.ts';

/** The lists of the customers of all apps. */
export interface CustomerListRepository {
  /** The cost does not depend on `skip`: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, request: PageRequest): Promise<ListPage<CustomerRow>>;
  /** Finds the customers that match, by the time of their creation. */
  find(appName: string, search: RowSearch<CustomerRow>): Promise<CursorPage<CustomerRow>>;
}
