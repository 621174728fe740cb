import pMap from 'p-map';
import type { CustomerRepository } from '../customers/customer-repository.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import type { StreamRecord } from '../shared/stream-record.ts';
import { type Product, pickRunningTotals } from './count-product.ts';
import type { CountsIncrement } from './counter.ts';
import type { CounterRepository } from './counter-repository.ts';
import { collapseHours } from './counts.ts';
import { type CountsChange, toCountsChange, toShardKey } from './counts-change.ts';
import { findAffectedCustomers, rebuildCustomerSummary } from './rebuild-customer-summary.ts';
import type { StreamMarkerRepository } from './stream-marker-repository.ts';
import { deletePassedMarkers } from './wait-for-stream.ts';

/** Number of counters, or customer summaries, that are written concurrently. */
const concurrency = 8;

export interface AggregationDeps {
  readonly counters: CounterRepository;
  readonly customers: CustomerRepository;
  readonly ownedPurchases: OwnedPurchaseRepository;
  readonly streamMarkers: StreamMarkerRepository;
}

/**
 * Adds records of one shard to the counters of days, months and products, then rebuilds the summaries of the affected
 * customers. Counts each record exactly once, although Lambda delivers records at least once and in changing batches.
 */
export async function aggregateStreamRecords(
  records: readonly StreamRecord[],
  shardId: string,
  deps: AggregationDeps,
): Promise<void> {
  const shardKey = toShardKey(shardId);
  const changes = records.map(toCountsChange).filter((change) => change !== undefined);
  await pMap(
    groupByCounter(changes),
    async ({ appName, increments, ...counter }) =>
      await deps.counters.increment(appName, counter, shardKey, increments),
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
  readonly product?: Product | undefined;
  readonly increments: CountsIncrement[];
}

/** Groups the increments, so that each counter is written once per batch of records. */
function groupByCounter(changes: readonly CountsChange[]): CounterIncrements[] {
  const groups = new Map<string, CounterIncrements>();
  const addIncrement = (counter: Omit<CounterIncrements, 'increments'>, increment: CountsIncrement): void => {
    const { appName, period, product } = counter;
    const key = JSON.stringify([appName, period, product?.platform, product?.productId]);
    const group = groups.get(key) ?? { ...counter, increments: [] };
    group.increments.push(increment);
    groups.set(key, group);
  };
  for (const { appName, dailyCounts, productCounts, ...position } of changes) {
    for (const [day, counts] of dailyCounts) {
      addIncrement({ appName, period: day }, { ...position, counts });
      addIncrement({ appName, period: day.slice(0, 7) }, { ...position, counts: collapseHours(counts) });
    }
    for (const { platform, productId, day, counts } of productCounts) {
      const product = { platform, productId };
      const totals = pickRunningTotals(counts);
      addIncrement({ appName, period: day, product }, { ...position, counts });
      if (Object.keys(totals).length > 0)
        addIncrement({ appName, period: day.slice(0, 7), product }, { ...position, counts: totals });
    }
  }
  return [...groups.values()];
}
