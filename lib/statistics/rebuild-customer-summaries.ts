import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../deps.ts';
import { rebuildCustomerSummary } from './rebuild-customer-summary.ts';

/** How many customers were looked at, and how many of their summaries said something else than their purchases. */
interface RebuildResult {
  readonly checked: number;
  readonly corrected: number;
  /** Of the given names, those of no customer. */
  readonly unknownUsernames: readonly string[];
}

/** Customers whose summaries are worked out at the same time. */
const concurrency = 8;

/**
 * Works the summaries of customers out anew, of all where no name is given. It may run beside the aggregator, and again:
 * neither writes what is older than the other's.
 */
export async function rebuildCustomerSummaries(
  appName: string,
  deps: Deps,
  usernames: readonly string[] = [],
): Promise<RebuildResult> {
  let checked = 0;
  let corrected = 0;
  const unknownUsernames: string[] = [];
  for await (const names of usernames.length > 0 ? [usernames] : deps.appItems.scanUsernames(appName)) {
    for (let start = 0; start < names.length; start += concurrency) {
      const batch = names.slice(start, start + concurrency);
      const outcomes = await Promise.all(batch.map((username) => rebuildCustomerSummary({ appName, username }, deps)));
      const known = outcomes.filter((outcome) => outcome !== undefined);
      unknownUsernames.push(...batch.filter((_name, index) => usernames.length > 0 && outcomes[index] === undefined));
      checked += known.length;
      corrected += known.filter(({ before, after }) => !isDeepStrictEqual(before, after)).length;
    }
  }
  return { checked, corrected, unknownUsernames };
}
