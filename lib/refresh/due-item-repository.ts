import type { DueGrant } from '../entitlements/grant-repository.ts';
import type { EpochMillis } from '../shared/time.ts';

/** A purchase to refresh, a webhook to retry, a grant that has ended or a refund request with a step to take. */
export type DueItem =
  | {
      readonly kind: 'purchase';
      readonly appName: string;
      readonly purchaseId: string;
      /** Whether the refresh only searches for a lost store notification, so that it can wait. */
      readonly isIntervalCheck?: boolean;
    }
  | { readonly kind: 'delivery'; readonly appName: string; readonly deliveryId: string }
  | ({ readonly kind: 'grant' } & DueGrant)
  | { readonly kind: 'refundRequest'; readonly appName: string; readonly requestId: string };

/** Due times of purchases. */
interface OverdueRefreshes {
  readonly dueTimes: readonly EpochMillis[];
  /** Whether no item was left out. */
  readonly isComplete: boolean;
}

/** A due item with the time from which it was due. */
export type LeasedItem = DueItem & { readonly dueAt: EpochMillis };

/** The due items of all apps. */
export interface DueItemRepository {
  /**
   * Leases up to `limit` items that are due at `now`, and of each shard up to a quarter of them, oldest first. An item
   * that is still due after the lease of ten minutes, for example because the worker crashed, is leased again.
   */
  lease(now: EpochMillis, limit: number): Promise<LeasedItem[]>;
  /**
   * Lists the due times of an app's purchases that are due at `now`, oldest first. Reads at most `limit` items of all
   * apps.
   */
  listOverdueRefreshes(appName: string, now: EpochMillis, limit: number): Promise<OverdueRefreshes>;
}
