import type { DynamoDBRecord } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import type { TallyIncrement } from './counter.ts';
import { findAffectedCustomers, rebuildCustomerSummary } from './rebuild-customer-summary.ts';
import { collapseHours } from './tally.ts';
import { type TallyChange, toShardKey, toTallyChange } from './tally-change.ts';
import { deletePassedMarkers } from './wait-for-stream.ts';

/** Counters that are written at the same time. */
const concurrency = 8;

/**
 * Adds what records of one shard of the table's stream tell to the days and months, each once however often and in whatever
 * portions the records come, and brings the summaries of the customers concerned up to date.
 */
export async function aggregateStreamRecords(
  records: readonly DynamoDBRecord[],
  shardId: string,
  deps: Deps,
): Promise<void> {
  const facts = records.map(toTallyChange).filter((fact) => fact !== undefined);
  const shard = toShardKey(shardId);
  await forEachInBatches([...groupByCounter(facts).values()], async ({ appName, period, portions }) => {
    await deps.counters.increment(appName, period, shard, portions);
  });
  await forEachInBatches(findAffectedCustomers(records), async (customer) => {
    await rebuildCustomerSummary(customer, deps);
  });
  await deletePassedMarkers(records, deps);
}

interface CounterIncrements {
  readonly appName: string;
  readonly period: string;
  readonly portions: TallyIncrement[];
}

/** What each counter gets, so that each is written once for all records together. */
function groupByCounter(facts: readonly TallyChange[]): ReadonlyMap<string, CounterIncrements> {
  const shares = new Map<string, CounterIncrements>();
  const addIncrement = (appName: string, period: string, portion: TallyIncrement): void => {
    const name = `${appName}\n${period}`;
    const share = shares.get(name) ?? { appName, period, portions: [] };
    share.portions.push(portion);
    shares.set(name, share);
  };
  for (const { appName, dailyTallies, ...when } of facts) {
    for (const [day, tally] of dailyTallies) {
      addIncrement(appName, day, { ...when, tally });
      addIncrement(appName, day.slice(0, 7), { ...when, tally: collapseHours(tally) });
    }
  }
  return shares;
}

async function forEachInBatches<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < values.length; start += concurrency) {
    await Promise.all(values.slice(start, start + concurrency).map(run));
  }
}
