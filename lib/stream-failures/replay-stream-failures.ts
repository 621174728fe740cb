import pMap from 'p-map';
import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { StreamFailure } from '../foundation/stream-failure.ts';
import type { StoredItem } from '../foundation/stream-record.ts';
import { hourMs } from '../foundation/time.ts';
import { retryOnConflict } from '../foundation/updates.ts';
import { findStoredItems } from '../purchases/app-item-table.ts';
import { listCountedDays } from '../statistics/list-counted-days.ts';
import { rebuildCustomerSummary } from '../statistics/rebuild-customer-summary.ts';
import { correctCounters, recount } from '../statistics/recount.ts';
import { waitForStream } from '../statistics/wait-for-stream.ts';
import { backfillItem } from '../webhooks/backfill-deliveries.ts';

type Wait = (ms: number) => Promise<void>;

interface ReplayOutcome<T extends StreamFailure> {
  readonly failure: T;
  /** The reason why the failure is not replayed. */
  readonly problem?: string;
}

/** Number of purchases that are processed concurrently. */
const concurrency = 8;

/** Wait for the global secondary indexes, which are eventually consistent. */
const indexLagMs = 5_000;

/** A delivery was created with the time of the service, and the failure has the time of the table. */
const clockSkewMs = hourMs;

/**
 * Does the skipped work of stream workers, from the current items: settles credits, creates missing webhook deliveries,
 * corrects the counters and rebuilds customer summaries. Idempotent. An item that is still unreadable is returned with
 * its problem.
 */
export async function replayStreamFailures<T extends StreamFailure>(
  service: Service,
  failures: readonly T[],
  wait: Wait,
): Promise<ReplayOutcome<T>[]> {
  const forWebhooks = failures.filter(({ worker }) => worker === 'fan-out-webhooks');
  const announced = await pMap(
    forWebhooks,
    async (failure) => ({ failure, ...(await findProblem(async () => await replayAnnouncements(service, failure))) }),
    { concurrency },
  );
  const counted: ReplayOutcome<T>[] = [];
  const forStatistics = failures.filter(({ worker }) => worker === 'aggregate-statistics');
  for (const appName of new Set(forStatistics.map((failure) => failure.appName))) {
    const appFailures = forStatistics.filter((failure) => failure.appName === appName);
    const outcome = await findProblem(
      async () => await replayCounts(service, appName, { failures: appFailures, wait }),
    );
    counted.push(...appFailures.map((failure) => ({ failure, ...outcome })));
  }
  return [...announced, ...counted];
}

async function findProblem(run: () => Promise<void>): Promise<{ readonly problem?: string }> {
  try {
    await run();
    return {};
  } catch (error) {
    return { problem: ServiceError.fromUnknown(error).message };
  }
}

/** A deleted item has nothing to announce. */
async function replayAnnouncements(service: Service, { appName, key, writtenAt }: StreamFailure): Promise<void> {
  const [stored] = await findStoredItems(service, [key]);
  const range = { from: writtenAt - clockSkewMs, to: service.now() + 1 };
  if (stored) await backfillItem(service, appName, { ...stored, range });
}

const OwnedPurchaseItem = v.object({ entitledUsers: v.array(v.string()) });

/** Rebuilds the summaries of the customers, and recounts the days of the items. */
async function replayCounts(
  service: Service,
  appName: string,
  { failures, wait }: { failures: readonly StreamFailure[]; wait: Wait },
): Promise<void> {
  const items = await findStoredItems(
    service,
    failures.map(({ key }) => key),
  );
  for (const username of new Set(items.flatMap(listEntitledUsers)))
    await rebuildCustomerSummary(service, { appName, username });
  const days = [...new Set(items.flatMap(listCountedDays))].sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return;
  // Records that are aggregated during the recount change the version of a counter, which is a conflict.
  await retryOnConflict(async () => {
    const range = [first, last] as const;
    const differences = await recount(service, appName, range, { waitForIndex: async () => await wait(indexLagMs) });
    if (differences.length === 0) return;
    await waitForStream(service, appName, wait);
    await correctCounters(service, appName, { days: range, differences });
  });
}

const listEntitledUsers = ({ kind, item }: StoredItem): readonly string[] =>
  kind === 'purchase' ? parse(OwnedPurchaseItem, item, 'DatabaseError').entitledUsers : [];
