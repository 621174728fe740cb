import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import type { CustomerRepository } from '../customers/customer-repository.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import type { ReportProgress } from '../shared/progress.ts';
import { rebuildCustomerSummary } from './rebuild-customer-summary.ts';

interface RebuildResult {
  readonly checked: number;
  /** Number of summaries that differed from the purchases. */
  readonly corrected: number;
  /** Requested usernames that no customer has. */
  readonly unknownUsernames: readonly string[];
}

interface RebuildOptions {
  /** The customers; all of them if empty. */
  readonly usernames?: readonly string[];
  readonly reportProgress?: ReportProgress;
}

/** Number of customer summaries that are rebuilt concurrently. */
const concurrency = 8;

/**
 * Rebuilds customer summaries; all of them if no username is given. Idempotent and safe to run concurrently with the
 * aggregator: older data never overwrites newer data.
 */
export async function rebuildCustomerSummaries(
  appName: string,
  deps: {
    readonly appItems: AppItemRepository;
    readonly customers: CustomerRepository;
    readonly ownedPurchases: OwnedPurchaseRepository;
  },
  { usernames: requestedUsernames = [], reportProgress }: RebuildOptions = {},
): Promise<RebuildResult> {
  let checked = 0;
  let corrected = 0;
  const unknownUsernames: string[] = [];
  const batches = requestedUsernames.length > 0 ? [requestedUsernames] : deps.appItems.scanUsernames(appName);
  for await (const usernames of batches) {
    const changes = await pMap(
      usernames,
      async (username) => ({ username, change: await rebuildCustomerSummary({ appName, username }, deps) }),
      { concurrency },
    );
    for (const { username, change } of changes) {
      if (change) {
        checked++;
        if (!isDeepStrictEqual(change.before, change.after)) corrected++;
      } else if (requestedUsernames.length > 0) {
        unknownUsernames.push(username);
      }
    }
    reportProgress?.(checked);
  }
  return { checked, corrected, unknownUsernames };
}
