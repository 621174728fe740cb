import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pMap from 'p-map';
import { maxCounterParts } from '../../../lib/foundation/counter-parts.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { maxCheckpoints } from '../../../lib/statistics/counter.ts';
import { type CounterGroup, counterKey, toPartRange } from '../../../lib/statistics/counter-key.ts';
import {
  incrementCounter,
  listCounterDays,
  listCounterMonths,
  replaceCounts,
} from '../../../lib/statistics/counter-table.ts';
import { addCounts, type Counts } from '../../../lib/statistics/counts.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';

const table = startBeforeAll(createTestTable);

const day = '2026-01-01';
const product = { platform: 'store_a', productId: 'store_a:gold' } as const;
const groups: readonly CounterGroup[] = [
  {},
  { product },
  { kind: 'cells', product, country: 'DE' },
  { kind: 'cells', product, country: 'US' },
];

/** A change of a counter that a shard has, by its position in the shard. */
interface Change {
  readonly shard: number;
  readonly group: number;
  readonly counts: Counts;
}

const arbitraryChanges = fc.array(
  fc.record({
    shard: fc.nat(45),
    group: fc.nat(groups.length - 1),
    counts: fc.record({ a: fc.integer({ min: -2, max: 3 }), b: fc.integer({ min: -1, max: 1 }) }),
  }),
  { minLength: 60, maxLength: 150 },
);

const createService = (counterParts: number, crashes?: () => boolean) => ({
  ...createAggregationService(table, crashes),
  counterParts,
});

const toIncrement = (sequence: number, counts: Counts) => ({
  sequenceNumber: String(100 + sequence),
  writtenAt: startDate + sequence,
  counts,
});

/** Repeats an increment until it succeeds, as Lambda repeats a batch. */
async function deliver(run: () => Promise<void>): Promise<void> {
  for (;;) {
    const isWritten = await run().then(
      () => true,
      () => false,
    );
    if (isWritten) return;
  }
}

/** Counts one request in each of the first shards. */
async function countShards(appName: string, { shards, counterParts }: { shards: number; counterParts: number }) {
  const service = createService(counterParts);
  const numbers = Array.from({ length: shards }, (_, shard) => shard);
  const count = async (shard: number) => {
    const increments = [toIncrement(shard, { requests: 1 })];
    await deliver(
      async () => await incrementCounter(service, appName, { period: day }, { shard: `shard-${shard}`, increments }),
    );
  };
  await pMap(numbers, count, { concurrency: 2 });
}

const listItems = async (appName: string) => {
  const { pk, sk } = counterKey(appName, day);
  return await table.query({ partition: pk, between: toPartRange({ pk, sk }) });
};

const figures = { kind: 'platforms' } as const;

/** Counts two months. Only the second one has the sum `g.new`. */
async function givenCounters(): Promise<string> {
  const appName = createUniqueName('app');
  const position = { sequenceNumber: '1', writtenAt: 1 };
  const increment = async (period: string, counts: Readonly<Record<string, number>>) =>
    await incrementCounter(
      createService(1),
      appName,
      { ...figures, period },
      { shard: 'shard', increments: [{ ...position, counts }] },
    );
  await increment('2026-01', { 'm2026-01:a1': 1 });
  await increment('2026-02', { 'g.new': 5, 'm2026-01:a1': 2, left: 3 });
  return appName;
}

describe('listCounterMonths', () => {
  it('returns all sums of each period', async () => {
    expect(
      await listCounterMonths(createService(1), await givenCounters(), { months: ['2026-01', '2026-02'], ...figures }),
    ).toEqual([
      { period: '2026-01', counts: { 'm2026-01:a1': 1 }, version: 1 },
      { period: '2026-02', counts: { 'g.new': 5, 'm2026-01:a1': 2, left: 3 }, version: 1 },
    ]);
  });

  it('returns the cells of a product with their country, even of the last month', async () => {
    const appName = createUniqueName('app');
    const cells = { kind: 'cells', product: { platform: 'store_a', productId: 'store_a:gold' } } as const;
    for (const [period, country] of [
      ['2026-01', 'DE'],
      ['2026-01', 'US'],
      ['2026-02', 'ZZ'],
      ['2026-03', 'DE'],
    ] as const)
      await incrementCounter(
        createService(1),
        appName,
        { ...cells, country, period },
        { shard: 'shard', increments: [{ sequenceNumber: '1', writtenAt: 1, counts: { began: 1 } }] },
      );
    expect(await listCounterMonths(createService(1), appName, { months: ['2026-01', '2026-02'], ...cells })).toEqual([
      { period: '2026-01', country: 'DE', counts: { began: 1 }, version: 1 },
      { period: '2026-01', country: 'US', counts: { began: 1 }, version: 1 },
      { period: '2026-02', country: 'ZZ', counts: { began: 1 }, version: 1 },
    ]);
  });
});

describe('counter in parts', () => {
  it(
    'reads as one counter for any distribution, numbers of parts that change, repeated batches and crashes',
    async () => {
      const property = fc.asyncProperty(
        arbitraryChanges,
        fc.infiniteStream(fc.constantFrom(1, 2, 5, maxCounterParts)),
        fc.infiniteStream(fc.integer({ min: 0, max: 12 }).map((digit) => digit === 0)),
        async (changes, partCounts, crashes) => {
          const appName = createUniqueName();
          const crashesNow = () => crashes.next().value;
          const write = async ({ shard, group, counts }: Change, sequence: number): Promise<void> => {
            const service = createService(partCounts.next().value, crashesNow);
            const counter = { period: day, ...groups[group] };
            const increments = [toIncrement(sequence, counts)];
            await deliver(
              async () => await incrementCounter(service, appName, counter, { shard: `shard-${shard}`, increments }),
            );
          };
          // Shards are read concurrently, and each one in order.
          const shards = new Map<number, { change: Change; sequence: number }[]>();
          for (const [sequence, change] of changes.entries())
            shards.set(change.shard, [...(shards.get(change.shard) ?? []), { change, sequence }]);
          await pMap(
            shards.values(),
            async (records) => {
              for (const { change, sequence } of records) {
                await write(change, sequence);
                // A batch is repeated from the last one that succeeded on, even after a deployment.
                if (sequence % 3 === 0) await write(change, sequence);
              }
            },
            { concurrency: 3 },
          );
          for (const records of shards.values()) {
            const last = records.at(-1);
            if (last) await write(last.change, last.sequence);
          }
          const reader = createService(1);
          const readings = await Promise.all([
            listCounterDays(reader, appName, { days: [day, day] }),
            listCounterDays(reader, appName, { days: [day, day], product }),
            listCounterDays(reader, appName, { days: [day, day], kind: 'cells', product }),
          ]);
          const sums = readings
            .flat()
            .map(({ counts }) => counts)
            .filter((counts) => Object.keys(counts).length > 0);
          const expected = groups
            .map((_, index) =>
              changes.reduce<Counts>((sum, { group, counts }) => (group === index ? addCounts(sum, counts) : sum), {}),
            )
            .filter((counts) => Object.keys(counts).length > 0);
          expect(sums).toEqual(expected);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 4, full: 60 }));
    },
    10 * minuteMs,
  );

  it('keeps at most 16 shards in one item, and uses one item by default', async () => {
    const [split, whole] = [createUniqueName(), createUniqueName()];
    await countShards(split, { shards: 100, counterParts: maxCounterParts });
    await countShards(whole, { shards: 100, counterParts: 1 });
    const items = await listItems(split);
    expect(items.length).toBeGreaterThan(20);
    const shards = items.map(({ checkpoints }) => Object.keys(checkpoints as object).length);
    expect(Math.max(...shards)).toBe(maxCheckpoints);
    expect(shards.reduce((sum, count) => sum + count)).toBe(100);
    const [item, ...others] = await listItems(whole);
    expect([item?.counts, item?.isSplit, others]).toEqual([{ requests: 100 }, undefined, []]);
    for (const appName of [split, whole]) {
      const [counter, ...rest] = await listCounterDays(createService(1), appName, { days: [day, day] });
      expect([counter?.counts, rest]).toEqual([{ requests: 100 }, []]);
    }
  });

  it('stays in one item if few shards change it', async () => {
    const appName = createUniqueName();
    await countShards(appName, { shards: maxCheckpoints, counterParts: maxCounterParts });
    await countShards(appName, { shards: maxCheckpoints, counterParts: maxCounterParts });
    expect(await listItems(appName)).toMatchObject([{ counts: { requests: maxCheckpoints } }]);
  });

  it('counts a repeated record once after the parts are turned off', async () => {
    const appName = createUniqueName();
    await countShards(appName, { shards: 100, counterParts: maxCounterParts });
    await countShards(appName, { shards: 110, counterParts: 1 });
    const [counter] = await listCounterDays(createService(1), appName, { days: [day, day] });
    expect(counter?.counts).toEqual({ requests: 110 });
  });

  it('costs two requests if it is not split', async () => {
    const appName = createUniqueName();
    const calls: string[] = [];
    const traced = Object.fromEntries(
      (['get', 'query', 'batchGet', 'update', 'transact'] as const).map((name) => [
        name,
        async (argument: never) => {
          calls.push(name);
          return await (table[name] as (argument: never) => Promise<unknown>)(argument);
        },
      ]),
    );
    const service = { ...createAggregationService(table), table: { ...table, ...traced } as Table };
    const increment = async (sequence: number) =>
      await incrementCounter(
        service,
        appName,
        { period: day },
        { shard: 'shard', increments: [toIncrement(sequence, { requests: 1 })] },
      );
    await increment(0);
    await increment(1);
    await increment(1);
    await listCounterDays(service, appName, { days: [day, day] });
    await listCounterMonths(service, appName);
    expect(calls).toEqual(['get', 'update', 'get', 'update', 'get', 'query', 'query']);
  });
});

describe('recount of counters in parts', () => {
  /** Stores events in separate shards. The aggregator counts all but the last ones. */
  async function givenEvents(missing: number) {
    const appName = createUniqueName();
    const service = createService(8);
    const events = Array.from({ length: 60 }, (_, index) => ({
      ...keys.eventKey(appName, createEventId(startDate + index)),
      date: startDate + index,
      type: 'customer.read',
    }));
    // Older, so that the day is complete.
    const first = { ...keys.eventKey(appName, createEventId(startDate - 9 * 24 * 60 * minuteMs)), date: 0, type: 'x' };
    await table.batchPut([...events, first]);
    const count = async (index: number) => {
      const after = events[index];
      if (!after) return;
      const records = [buildStreamRecord({ after }, index)];
      await deliver(async () => await aggregateStreamRecords(service, records, `shard-${index}`));
    };
    await pMap(
      Array.from({ length: 60 - missing }, (_, index) => index),
      count,
      { concurrency: 4 },
    );
    return { appName, service, count };
  }
  const days = [day, day] as const;

  it('finds no differences', async () => {
    const { appName, service } = await givenEvents(0);
    expect((await listItems(appName)).length).toBeGreaterThan(4);
    expect(await recount(service, appName, days)).toEqual([]);
  });

  it('replaces all parts, and counts later changes and repeated records once', async () => {
    const { appName, service, count } = await givenEvents(6);
    const differences = await recount(service, appName, days);
    expect(differences).toMatchObject([{ period: day, change: { requests: 6 } }]);
    await correctCounters(service, appName, { days, differences });
    const items = await listItems(appName);
    expect(items[0]?.counts).toEqual({ requests: 60 });
    for (const { counts } of items.slice(1)) expect(counts).toEqual({});
    for (const index of [0, 17, 40, 53]) await count(index);
    expect(await recount(service, appName, days)).toEqual([]);
    const [month] = await listCounterMonths(service, appName);
    expect(month?.counts).toEqual({ requests: 60 });
  });

  it('rejects the correction if one part changed since the recount', async () => {
    const { appName, service, count } = await givenEvents(6);
    const differences = await recount(service, appName, days);
    await count(54);
    await expect(correctCounters(service, appName, { days, differences })).rejects.toMatchObject({ code: 'Conflict' });
    expect(await replaceCounts(service, appName, [{ period: day, version: 1, change: () => ({}) }])).toBe(false);
  });
});
