import type { EpochMillis } from '../shared/time.ts';

/** The due items that no worker has enqueued. */
interface LateItems {
  /** At most the limit of the query. */
  readonly count: number;
  /** Due time of the oldest item. */
  readonly oldestDueAt: EpochMillis;
}

/** A purchase with the time of its last change. */
interface ChangedPurchase {
  readonly purchaseId: string;
  readonly updatedAt: EpochMillis;
}

/** Reads that only the checks of the service need. They read indexes, which are eventually consistent. */
export interface HealthRepository {
  /** Returns the items that were due before a time. Undefined without such items. Counts at most `limit`. */
  findLateItems(before: EpochMillis, limit: number): Promise<LateItems | undefined>;
  /** Lists the purchases of the app that changed last, the latest first. */
  listLatestPurchases(appName: string, limit: number): Promise<ChangedPurchase[]>;
  /** Returns the latest day (`YYYY-MM-DD`) with stored exchange rates. */
  findLatestRateDay(): Promise<string | undefined>;
}
