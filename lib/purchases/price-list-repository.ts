import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';

/**
 * A cache of the apps' price lists for 5 minutes. It is in the table instead of the memory of a container, so that a
 * store notification about a price invalidates it for all containers. The time of the last change is an item of its
 * own: a list that was fetched before the change and saved after it is never used.
 */
export interface PriceListRepository {
  /** Returns the cached list. Undefined if it is stale or does not exist. */
  findFresh(appName: string, platform: Platform, now: EpochMillis): Promise<unknown>;
  /** Saves a list that was requested at `fetchedAt`. */
  save(
    source: { readonly appName: string; readonly platform: Platform; readonly fetchedAt: EpochMillis },
    list: object,
  ): Promise<void>;
  /** Makes all lists fetched until `now` stale. To be called if a price or product has changed at the processor. */
  invalidate(appName: string, platform: Platform, now: EpochMillis): Promise<void>;
}
