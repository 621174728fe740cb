import type { DueItem } from '../foundation/keys.ts';
import type { EpochMillis } from '../shared/time.ts';

/** Due times of purchases. */
interface OverdueRefreshes {
  readonly dueTimes: readonly EpochMillis[];
  /** Whether no item was left out. */
  readonly isComplete: boolean;
}

/** A due item as it was listed. */
export type ListedItem = DueItem & {
  /** Time from which it was due. */
  readonly dueAt: EpochMillis;
  /** Time of the next interval check if this one finds no change. Absent if another refresh can follow. */
  readonly nextCheckAt?: EpochMillis;
  readonly indexKey: { readonly pk: string; readonly sk: string; readonly dueSk: string };
};

/** The due items of all apps. */
export interface DueItemRepository {
  /**
   * Lists up to `limit` items that are due at `now`, and of each shard up to a quarter of them, oldest first.
   * Eventually consistent: an item that was leased in the last second can be listed again.
   */
  list(now: EpochMillis, limit: number): Promise<ListedItem[]>;
  /**
   * Makes an item due again at `until`. Returns false if another worker has leased it since, or if it is no longer due.
   */
  lease(item: ListedItem, until: EpochMillis): Promise<boolean>;
  /**
   * Lists the due times of an app's purchases that are due at `now`, oldest first. Reads at most `limit` items of all
   * apps.
   */
  listOverdueRefreshes(appName: string, now: EpochMillis, limit: number): Promise<OverdueRefreshes>;
}
