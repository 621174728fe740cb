import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Strategy } from '../../../lib/apps/app.ts';
import { addDays, listDays } from '../../../lib/foundation/calendar.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import type { ListKind } from '../../../lib/foundation/keys.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import { getItemPage } from '../../../lib/lists/paged-list.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import {
  counterKey,
  counterPartition,
  type Product,
  toCountedProductKey,
} from '../../../lib/statistics/counter-key.ts';
import {
  listCountedProducts,
  listCounterDays,
  listCounterMonths,
  replaceCounts,
} from '../../../lib/statistics/counter-table.ts';
import { addCounts, type Counts, indexByPeriod } from '../../../lib/statistics/counts.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { waitForStream } from '../../../lib/statistics/wait-for-stream.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { arbitraryHistories, createHistoryRunner } from '../../../testing/random-purchase-histories.ts';
import { createRecordedTable } from '../../../testing/recorded-table.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { createShardConsumer } from '../../../testing/shard-consumer.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';
import { expectCorrectProductCounters } from './product-oracle.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const timeoutMs = 10 * minuteMs;
const range = ['2026-01-01', '2026-03-31'] as const;

/** After all histories, so all counts are final. */
const now = startDate + 400 * dayMs;
const listKinds: readonly ListKind[] = ['purchases', 'transactions', 'customers'];

/** Creates an app whose purchase history is counted only on demand. */
function givenHistory(strategy: Strategy, batchSizes: readonly number[] = [100]) {
  const appName = createUniqueName();
  const recorded = createRecordedTable(table, 3);
  const service = createService(recorded.table);
  const runStep = createHistoryRunner(service, appName, { strategy, from: startDate });
  const aggregation = createAggregationService(table);
  const consumers = recorded.shards.map((records, index) =>
    createShardConsumer(records, { shard: `shard-${index}`, sizes: batchSizes }),
  );
  return {
    appName,
    recorded,
    runStep,
    aggregation,
    consumers,
    /**
     * Records a request on each of the days, and one a month earlier, so that all of these days have complete events.
     */
    async recordRequests(days: readonly number[]) {
      const dates = [startDate - 30 * dayMs, ...days.map((day) => startDate + day * dayMs + 1)];
      await recorded.table.batchPut(
        dates.map((date, _index) => ({
          ...keys.eventKey(appName, createEventId(date)),
          date,
          type: 'customer.read',
        })),
      );
    },
    async countAll() {
      for (const consume of consumers) while (await consume(aggregation));
    },
  };
}
type History = ReturnType<typeof givenHistory>;

async function readRows(appName: string, list: ListKind): Promise<Item[]> {
  const shards = keys.createdLists[list]
    .partitions(appName)
    .map((partition) => table.query({ partition, index: 'byCreated' }));
  const entries = (await Promise.all(shards)).flat();
  const sorted = entries.sort((a, b) => (String(a.createdSk) < String(b.createdSk) ? -1 : 1));
  return await table.batchGet(sorted.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
}

type SumsByPeriod = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Computes the sums of each day and month independently of the code under test. */
async function computeSums(appName: string): Promise<SumsByPeriod> {
  const sums: Record<string, Record<string, number>> = {};
  const add = (date: number, name: string, { value = 1, isHourly = false } = {}) => {
    const iso = new Date(date).toISOString();
    const namesByPeriod = {
      [iso.slice(0, 10)]: isHourly ? `${name}.${Number(iso.slice(11, 13))}` : name,
      [iso.slice(0, 7)]: name,
    };
    for (const [period, sumName] of Object.entries(namesByPeriod)) {
      const periodSums = sums[period] ?? {};
      sums[period] = { ...periodSums, [sumName]: (periodSums[sumName] ?? 0) + value };
    }
  };
  for (const { createdAt } of await readRows(appName, 'customers')) add(Number(createdAt), 'C', { isHourly: true });
  for (const { pk, createdSk } of await readRows(appName, 'purchases')) {
    // The sort key starts with the time, in milliseconds.
    add(Number(String(createdSk).split('#')[0]), 'P', { isHourly: true });
    const notifications = await table.query({ partition: String(pk), prefix: keys.notificationKey.sortKey() });
    for (const { date, reason, isSubscription, sandbox } of notifications) {
      add(Number(date), `N.${reason}`);
      if (isSubscription && !sandbox) add(Number(date), `NS.${reason}`);
    }
  }
  for (const item of await readRows(appName, 'transactions')) {
    const {
      purchaseDate,
      refundedAt,
      partialRefunds = [],
      sandbox,
      amountMicros = 0,
    } = item.transaction as Transaction;
    add(purchaseDate, 'T', { isHourly: true });
    if (sandbox) continue;
    for (const name of ['transactions', 'paid', 'USD.paid', 'USD.transactions']) add(purchaseDate, name);
    for (const name of ['USD.micros', 'USD.usd']) {
      add(purchaseDate, name, { value: amountMicros });
      let remaining = amountMicros;
      for (const { date, amountMicros: part = 0 } of partialRefunds) {
        add(date, name, { value: -Math.min(part, remaining) });
        remaining -= Math.min(part, remaining);
      }
      if (refundedAt !== undefined) add(refundedAt, name, { value: -remaining });
    }
  }
  const events = await Promise.all(
    keys
      .eventPartitions(appName)
      .map(async (partition) => await table.query({ partition, prefix: keys.eventItemKey.sortKey() })),
  );
  for (const { date } of events.flat()) add(Number(date), 'requests');
  return sums;
}

/**
 * Omits zeros, the periods before the range, and the sums of platforms, which `expectCorrectProductCounters` checks.
 */
const normalize = (sums: SumsByPeriod) =>
  Object.fromEntries(
    Object.entries(sums)
      .filter(([period]) => period >= '2026')
      .map(([period, sum]) => [
        period,
        Object.fromEntries(Object.entries(sum).filter(([name, value]) => value !== 0 && !name.includes('/'))),
      ])
      .filter(([, sum]) => Object.keys(sum ?? {}).length > 0),
  );

/** Omits zeros and empty periods. */
const normalizeAll = (sums: SumsByPeriod) =>
  Object.fromEntries(
    Object.entries(sums)
      .map(([period, sum]) => [period, addCounts({}, sum)] as const)
      .filter(([, sum]) => Object.keys(sum).length > 0),
  );

/** Expects that the counters, and the pages that are located with them, agree with the items in the table. */
async function expectCorrectCounters({ appName, aggregation }: History, skips: readonly number[] = []): Promise<void> {
  const days = await listCounterDays(aggregation, appName, { days: range });
  const months = await listCounterMonths(aggregation, appName);
  const counted = Object.fromEntries(indexByPeriod([...days, ...months]));
  expect(normalize(counted)).toEqual(normalize(await computeSums(appName)));
  await expectCorrectProductCounters(table, { appName, service: aggregation });
  const sandboxDays = await listCounterDays(aggregation, appName, {
    days: ['2000-01-01', '2099-12-31'],
    isSandbox: true,
  });
  const sandboxMonths: Record<string, Counts> = {};
  for (const { period, counts } of sandboxDays)
    sandboxMonths[period.slice(0, 7)] = addCounts(sandboxMonths[period.slice(0, 7)] ?? {}, counts);
  const countedMonths = await listCounterMonths(aggregation, appName, { isSandbox: true });
  expect(normalizeAll(Object.fromEntries(indexByPeriod(countedMonths)))).toEqual(normalizeAll(sandboxMonths));
  for (const list of listKinds) {
    const rows = await readRows(appName, list);
    for (const skip of skips) {
      const page = await getItemPage(service, appName, list, { skip, limit: 3, now });
      expect(page).toEqual({ items: rows.slice(skip, skip + 3), total: rows.length });
    }
  }
}

const arbitraryDay = fc.nat(listDays(...range).length - 1).map((index) => addDays(range[0], index));
const arbitraryDamage = fc.record({
  period: fc.oneof(
    fc.nat(30).map((index) => addDays(range[0], index)),
    arbitraryDay,
    fc.constantFrom('2026-01', '2026-02'),
  ),
  name: fc.constantFrom(
    'T.3',
    'P.0',
    'C.23',
    'T',
    'P',
    'transactions',
    'USD.micros',
    'EUR.usd',
    'N.RENEWED',
    'requests',
    'store_a/active',
    'store_a/paid',
  ),
  isSandbox: fc.boolean(),
  /** Undefined: the counter is deleted. */
  value: fc.option(fc.integer({ min: -3, max: 1_000 }), { nil: undefined }),
});

/** Deletes all counters of a product, as if the product had been sold before products were counted. */
async function deleteCounters(appName: string, product: Product): Promise<void> {
  const partitions = [false, true].flatMap((isSandbox) => [
    counterPartition(appName, { isSandbox, product }),
    counterPartition(appName, { isSandbox, product, kind: 'cells' }),
    counterPartition(appName, { isSandbox, product, kind: 'cohorts' }),
  ]);
  const items = await Promise.all(partitions.map(async (partition) => await table.query({ partition })));
  await table.batchDelete([toCountedProductKey(appName, product), ...items.flat().map(toKey)]);
}

const arbitraryRequestDays = fc.array(fc.nat(89), { maxLength: 6 });
const arbitrarySkips = fc.array(fc.nat(12), { minLength: 1, maxLength: 3 });

describe('aggregateStreamRecords (any history)', () => {
  it(
    'counts products and platforms like a fresh count, for any batches and repeated records',
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistories,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        fc.nat(20),
        async ({ strategy, steps }, batchSizes, repeated) => {
          const history = givenHistory(strategy, batchSizes);
          const { appName, aggregation, recorded } = history;
          for (const step of steps) await history.runStep(step);
          await history.countAll();
          // Lambda repeats records after a lost response. The shards are read in any order.
          for (const [index, records] of [...recorded.shards.entries()].reverse())
            await aggregateStreamRecords(aggregation, records.slice(-repeated), `shard-${index}`);
          await expectCorrectProductCounters(table, { appName, service: aggregation });
          expect(await recount(aggregation, appName, range)).toEqual([]);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 3, full: 25 }));
    },
    timeoutMs,
  );
});

describe('correctCounters (any history)', () => {
  it(
    'corrects counters that are wrong, missing or superfluous',
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistories,
        arbitraryRequestDays,
        fc.array(arbitraryDamage, { minLength: 1, maxLength: 8 }),
        arbitrarySkips,
        async ({ strategy, steps }, requestDays, damages, skips) => {
          const history = givenHistory(strategy);
          const { appName, aggregation } = history;
          await history.recordRequests(requestDays);
          for (const step of steps) await history.runStep(step);
          await history.countAll();
          for (const { period, name, value, isSandbox } of damages) {
            const product = name.startsWith('store_a/')
              ? (await listCountedProducts(aggregation, appName))[0]
              : undefined;
            if (product) await deleteCounters(appName, product);
            if (value === undefined) {
              const Key = counterKey(appName, period, { isSandbox });
              await table.transact([{ Delete: { TableName: table.name, Key } }]);
            } else {
              const change = (counts: Readonly<Record<string, number>>) => ({ ...counts, [name]: value });
              await replaceCounts(aggregation, appName, [{ period, isSandbox, change }]);
            }
          }
          const differences = await recount(aggregation, appName, range);
          await correctCounters(aggregation, appName, { days: range, differences });
          await expectCorrectCounters(history, skips);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 2, full: 15 }));
    },
    timeoutMs,
  );

  it(
    'corrects parts of months after crashes between any two writes',
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistories,
        fc.integer({ min: 0, max: 40 }),
        fc.infiniteStream(fc.boolean()),
        async ({ strategy, steps }, splitDay, isCounted) => {
          const history = givenHistory(strategy);
          const { appName, aggregation } = history;
          await history.recordRequests([3, 40]);
          for (const step of steps) await history.runStep(step);
          // The aggregator does not count the removed records.
          for (const records of history.recorded.shards) {
            const countedRecords = records.splice(0).filter(() => isCounted.next().value);
            records.push(...countedRecords);
          }
          await history.countAll();
          let calls = 0;
          const crashingTable: Table = {
            ...table,
            transact: async (writes) => {
              if (calls++ % 3 === 2) throw new Error('crashed before the write');
              await table.transact(writes);
              if (calls++ % 3 === 2) throw new Error('crashed after the write');
            },
          };
          const crashing = createService(crashingTable);
          const lastDay = addDays(range[0], splitDay);
          for (const days of [[range[0], lastDay] as const, [addDays(lastDay, 1), range[1]] as const]) {
            for (;;) {
              const differences = await recount(aggregation, appName, days);
              if (differences.length === 0) break;
              await correctCounters(crashing, appName, { days, differences }).catch(() => undefined);
            }
          }
          await expectCorrectCounters(history);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 1, full: 10 }));
    },
    timeoutMs,
  );

  it(
    'counts each concurrent change exactly once',
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistories,
        arbitraryHistories,
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 16 }).map((sizes) => [...sizes, 400]),
        fc.infiniteStream(fc.nat(15)),
        async ({ strategy, steps: earlierSteps }, { steps: concurrentSteps }, batchSizes, choices) => {
          const history = givenHistory(strategy, batchSizes);
          const { appName, aggregation, consumers } = history;
          await history.recordRequests([2]);
          // The aggregator has not counted these steps when the recount starts.
          for (const step of earlierSteps) await history.runStep(step);
          const remainingSteps = [...concurrentSteps];
          const runConcurrentAction = async () => {
            const choice = choices.next().value;
            await consumers[choice]?.(aggregation);
            const step = choice > 12 ? remainingSteps.shift() : undefined;
            if (step) await history.runStep(step);
          };
          // The recount reads concurrently, but the actions run one after the other.
          let lastAction = Promise.resolve();
          const runNextAction = async () => {
            lastAction = lastAction.then(runConcurrentAction);
            await lastAction;
          };
          const changingTable: Table = {
            ...history.recorded.table,
            query: async (queryRange) => {
              await runNextAction();
              const items = await table.query(queryRange);
              await runNextAction();
              return items;
            },
          };

          const changing = createService(changingTable, { now: () => now });
          const differences = await recount(changing, appName, range);
          await waitForStream(changing, appName, async () => {
            for (const consume of consumers) await consume(aggregation);
            await runNextAction();
          });
          await runNextAction();
          await correctCounters(changing, appName, { days: range, differences }).catch((error) =>
            expect(error).toMatchObject({ code: 'Conflict' }),
          );
          await history.countAll();
          await expectCorrectCounters(history);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 1, full: 10 }));
    },
    timeoutMs,
  );
});

describe('waitForStream', () => {
  it('rejects with Conflict if the aggregator does not pass the markers', async () => {
    let time = now;
    const wait = async (ms: number) => {
      time += 30 * ms;
    };
    const waiting = createService(table, { now: () => time });
    await expect(waitForStream(waiting, createUniqueName(), wait)).rejects.toMatchObject({
      code: 'Conflict',
    });
  });
});
