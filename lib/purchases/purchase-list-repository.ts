import type { DateRange, ListPage, PageRequest } from '../shared/list-page.ts';
import type { ItemImage } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { EntitledPurchase } from './purchase-repository.ts';

/** A purchase in a list. */
export interface ListedPurchase extends EntitledPurchase {
  readonly updatedAt: EpochMillis;
  readonly hasRefreshToken: boolean;
}

/** The lists of the purchases of all apps. */
export interface PurchaseListRepository {
  /** The cost does not depend on `skip`: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, request: PageRequest): Promise<ListPage<ListedPurchase>>;
  /** Lists the ids of the purchases changed in the range, by time of the change. At most 10,000. */
  listUpdatedIds(appName: string, range: DateRange): Promise<readonly string[]>;
  /** Returns the purchases that exist, in the order of the ids. */
  findMany(appName: string, purchaseIds: readonly string[]): Promise<ListedPurchase[]>;
  /**
   * Scans the purchases changed since `startdate` as the stream contains them, in batches. A purchase that changes
   * during the scan can be repeated.
   */
  scanUpdatedSince(appName: string, startdate: EpochMillis): AsyncIterable<readonly ItemImage[]>;
}
