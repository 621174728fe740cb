import type { Purchase } from '../purchases/purchase.ts';
import type { CustomerRow, SummaryChange } from './customer-summary.ts';

/** The customers of all apps. */
export interface CustomerRepository {
  /** Returns the customers that exist, in the order of the usernames. */
  findMany(appName: string, usernames: readonly string[]): Promise<CustomerRow[]>;
  /** Returns the usernames that are customers, in the order of the usernames. */
  selectExisting(appName: string, usernames: readonly string[]): Promise<string[]>;
  /** Returns the first usernames that begin with the text, in any case. */
  findNames(appName: string, prefix: string, limit: number): Promise<string[]>;
  /**
   * Rebuilds the customer's summary from the purchases that `listPurchases` returns. Calls it again if another worker
   * interferes. Returns undefined if the customer does not exist. Throws `Conflict` after ten concurrent writes.
   */
  updateSummary(
    appName: string,
    username: string,
    listPurchases: () => Promise<readonly Purchase[]>,
  ): Promise<SummaryChange | undefined>;
}
