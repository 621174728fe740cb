import pMap from 'p-map';
import type { Deps } from '../deps.ts';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { TallyIncrement } from './counter.ts';
import { findAffectedCustomers, rebuildCustomerSummary } from './rebuild-customer-summary.ts';
import { collapseHours } from './tally.ts';
import { type TallyChange, toShardKey, toTallyChange } from './tally-change.ts';
import { deletePassedMarkers } from './wait-for-stream.ts';

/** Number of counters, or customer summaries, that are written concurrently. */
const concurrency = 8;

export type AggregationDeps = Pick<Deps, 'counters' | 'customers' | 'ownedPurchases' | 'streamMarkers'>;

/**
 * Adds records of one shard to the counters of days and months, then rebuilds the summaries of the affected customers.
 * Counts each record exactly once, although Lambda delivers records at least once and in changing batches.
 */
export async function aggregateStreamRecords(
  records: readonly StreamRecord[],
  shardId: string,
  deps: AggregationDeps,
): Promise<void> {
  const shardKey = toShardKey(shardId);
  const changes = records.map(toTallyChange).filter((change) => change !== undefined);
  await pMap(
    groupByCounter(changes),
    async ({ appName, period, increments }) => await deps.counters.increment(appName, period, shardKey, increments),
    { concurrency },
  );
  await pMap(findAffectedCustomers(records), async (customer) => await rebuildCustomerSummary(customer, deps), {
    concurrency,
  });
  await deletePassedMarkers(records, deps);
}

interface CounterIncrements {
  readonly appName: string;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly increments: TallyIncrement[];
}

/** Groups the increments, so that each counter is written once per batch of records. */
function groupByCounter(changes: readonly TallyChange[]): CounterIncrements[] {
  const groups = new Map<string, CounterIncrements>();
  const addIncrement = (appName: string, period: string, increment: TallyIncrement): void => {
    const key = `${appName}\n${period}`;
    const group = groups.get(key) ?? { appName, period, increments: [] };
    group.increments.push(increment);
    groups.set(key, group);
  };
  for (const { appName, dailyTallies, ...position } of changes) {
    for (const [day, tally] of dailyTallies) {
      addIncrement(appName, day, { ...position, tally });
      addIncrement(appName, day.slice(0, 7), { ...position, tally: collapseHours(tally) });
    }
  }
  return [...groups.values()];
}
