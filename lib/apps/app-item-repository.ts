import type { StoredItem, StreamRecord } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';

/** Range from `startdate` (included) to `enddate` (excluded). */
interface CreatedRange {
  readonly startdate: EpochMillis;
  readonly enddate: EpochMillis;
}

/** Ids of rows in order of creation. */
export interface IdPage {
  readonly ids: readonly string[];
  /** Continues a scan after this page. */
  readonly position: string;
}

interface IdScanOptions {
  /** Position of an earlier scan, after which this one starts. */
  readonly after?: string | undefined;
  /** Number of ids of a page, at least 2. Default: 1,000. */
  readonly pageSize?: number;
}

/** Reads over all items of an app, for operators and the statistics. Every scan yields batches. */
export interface AppItemRepository {
  /** Finds the existing items with these keys. */
  findItems(keys: readonly StreamRecord['key'][]): Promise<StoredItem[]>;
  /**
   * Scans the items that statistics count: all purchases with their transactions and notifications, and the customers
   * and events created in the range. Purchases are not limited, because a refund counts on another day than its
   * purchase.
   */
  scanCountableItems(appName: string, range: CreatedRange): AsyncIterable<StoredItem[]>;
  /**
   * Scans the ids of all purchases, or of those changed since a time, which is eventually consistent. A purchase that
   * changes during the scan can be repeated.
   */
  scanPurchaseIds(appName: string, updatedSince?: EpochMillis): AsyncIterable<string[]>;
  /** Scans the usernames of all customers. */
  scanUsernames(appName: string): AsyncIterable<string[]>;
  /** Scans the ids of all purchases or customers, by creation. */
  scanIdPages(appName: string, list: 'purchases' | 'customers', options?: IdScanOptions): AsyncIterable<IdPage>;
  /** Returns the date of the oldest event within the retention. Undefined if the app has no events. */
  findOldestEventDate(appName: string): Promise<EpochMillis | undefined>;
}
