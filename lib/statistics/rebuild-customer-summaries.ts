import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import { attemptItems, type FailedItem } from '../foundation/failed-items.ts';
import { buildNameWordItems } from '../foundation/keys.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { scanUsernames } from '../purchases/app-item-table.ts';
import { rebuildCustomerSummary } from './rebuild-customer-summary.ts';

interface RebuildResult {
  readonly checked: number;
  /** Number of summaries that differed from the purchases. */
  readonly corrected: number;
  /** Requested usernames that no customer has. */
  readonly unknownUsernames: readonly string[];
  readonly failed: readonly FailedItem[];
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
  service: Service,
  appName: string,
  { usernames: requestedUsernames = [], reportProgress }: RebuildOptions = {},
): Promise<RebuildResult> {
  let checked = 0;
  let corrected = 0;
  const unknownUsernames: string[] = [];
  const { attempt, failed } = attemptItems({ worker: 'rebuild-summaries', app: appName });
  const batches = requestedUsernames.length > 0 ? [requestedUsernames] : scanUsernames(service, appName);
  for await (const usernames of batches) {
    const changes = await pMap(
      usernames,
      async (username) =>
        await attempt(username, async () => {
          const change = await rebuildCustomerSummary(service, { appName, username });
          // Customers that an earlier release created lack the words of their names.
          if (change) await service.table.batchPut(buildNameWordItems(appName, username));
          return { username, change };
        }),
      { concurrency },
    );
    for (const { username, change } of changes.filter((result) => result !== undefined)) {
      if (change) {
        checked++;
        if (!isDeepStrictEqual(change.before, change.after)) corrected++;
      } else if (requestedUsernames.length > 0) {
        unknownUsernames.push(username);
      }
    }
    reportProgress?.(checked);
  }
  return { checked, corrected, unknownUsernames, failed };
}
