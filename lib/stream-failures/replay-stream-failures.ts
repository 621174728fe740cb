import pMap from 'p-map';
import * as v from 'valibot';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';
import type { StreamFailure } from '../shared/stream-failure.ts';
import type { StoredItem } from '../shared/stream-record.ts';
import { hourMs } from '../shared/time.ts';
import type { AggregationDeps } from '../statistics/aggregate-stream.ts';
import { listCountedDays } from '../statistics/list-counted-days.ts';
import { rebuildCustomerSummary } from '../statistics/rebuild-customer-summary.ts';
import { correctCounters, recount } from '../statistics/recount.ts';
import { waitForStream } from '../statistics/wait-for-stream.ts';
import { type BackfillDeps, backfillPurchaseDeliveries } from '../webhooks/backfill-deliveries.ts';

interface ReplayDeps extends BackfillDeps, Pick<AggregationDeps, 'counters' | 'customers' | 'ownedPurchases'> {
  readonly appItems: AppItemRepository;
  readonly streamMarkers: AggregationDeps['streamMarkers'];
  readonly wait: (ms: number) => Promise<void>;
}

interface ReplayOutcome<T extends StreamFailure> {
  readonly failure: T;
  /** The reason why the failure is not replayed. */
  readonly problem?: string;
}

/** Number of purchases that are processed concurrently. */
const concurrency = 8;
/** Wait for the global secondary indexes, which are eventually consistent. */
const indexLagMs = 5_000;
/** A delivery was created with the time of the service, and the failure has that of the table. */
const clockSkewMs = hourMs;

/**
 * Does the skipped work of stream workers, from the current items: creates missing webhook deliveries, corrects the
 * counters and rebuilds customer summaries. Idempotent. An item that is still unreadable is returned with its problem.
 */
export async function replayStreamFailures<T extends StreamFailure>(
  failures: readonly T[],
  deps: ReplayDeps,
): Promise<ReplayOutcome<T>[]> {
  const forWebhooks = failures.filter(({ worker }) => worker === 'fan-out-webhooks');
  const announced = await pMap(
    forWebhooks,
    async (failure) => ({ failure, ...(await findProblem(async () => await replayAnnouncements(failure, deps))) }),
    { concurrency },
  );
  const counted: ReplayOutcome<T>[] = [];
  const forStatistics = failures.filter(({ worker }) => worker === 'aggregate-statistics');
  for (const appName of new Set(forStatistics.map((failure) => failure.appName))) {
    const appFailures = forStatistics.filter((failure) => failure.appName === appName);
    const outcome = await findProblem(async () => await replayCounts(appName, appFailures, deps));
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

/** A deleted purchase has nothing to announce. */
async function replayAnnouncements({ appName, key, writtenAt }: StreamFailure, deps: ReplayDeps): Promise<void> {
  const [purchase] = await deps.appItems.findItems([key]);
  const range = { from: writtenAt - clockSkewMs, to: deps.now() + 1 };
  if (purchase) await backfillPurchaseDeliveries(appName, { item: purchase.item, range }, deps);
}

const PurchaseItem = v.object({ entitledUsers: v.array(v.string()) });

/** Rebuilds the summaries of the customers, and recounts the days of the items. */
async function replayCounts(appName: string, failures: readonly StreamFailure[], deps: ReplayDeps): Promise<void> {
  const items = await deps.appItems.findItems(failures.map(({ key }) => key));
  for (const username of new Set(items.flatMap(listEntitledUsers)))
    await rebuildCustomerSummary({ appName, username }, deps);
  const days = [...new Set(items.flatMap(listCountedDays))].sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return;
  // Records that are aggregated during the recount change the version of a counter, which is a conflict.
  await retryOnConflict(async () => {
    const range = [first, last] as const;
    const differences = await recount(appName, range, {
      ...deps,
      waitForIndex: async () => await deps.wait(indexLagMs),
    });
    if (differences.length === 0) return;
    await waitForStream(appName, deps);
    await correctCounters(appName, { days: range, differences }, deps);
  });
}

const listEntitledUsers = ({ kind, item }: StoredItem): readonly string[] =>
  kind === 'purchase' ? parse(PurchaseItem, item, 'DatabaseError').entitledUsers : [];
