import type { DueItem } from '../foundation/keys.ts';

/**
 * Refreshes of an app a second at one store: half of the rate limit of Apple and Google, because validations and
 * notifications query the store, too.
 * @see https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
 * @see https://developers.google.com/android-publisher/quotas
 */
const refreshesPerSecond = 25;

/** A run of the worker enqueues the refreshes until the next run, a minute later. */
const refreshesPerRun = 60 * refreshesPerSecond;

/** Maximum number of interval checks of a run. The rest of the budget is left for renewals. */
const intervalChecksPerRun = refreshesPerRun / 2;

type DueRefresh = Extract<DueItem, { readonly kind: 'purchase' }>;

/** The budget of one run, for each app and store. */
export interface RefreshBudget {
  /** Returns the delay of the refresh in seconds. Undefined if the budget of its app and store is used up. */
  take(refresh: DueRefresh): number | undefined;
}

export function createRefreshBudget(): RefreshBudget {
  const counts = new Map<string, number>();
  return {
    take({ appName, purchaseId, isIntervalCheck }) {
      const store = `${appName}#${purchaseId.split(':', 1)[0]}`;
      const count = counts.get(store) ?? 0;
      if (count >= (isIntervalCheck ? intervalChecksPerRun : refreshesPerRun)) return undefined;
      counts.set(store, count + 1);
      return Math.floor(count / refreshesPerSecond);
    },
  };
}
