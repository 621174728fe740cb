import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAppItemRepository } from '../../../lib/db/app-item-repository.ts';
import { createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createExchangeRateRepository } from '../../../lib/db/exchange-rate-repository.ts';
import * as keys from '../../../lib/db/keys.ts';
import { createPagedListRepository, type PagedListRepository } from '../../../lib/db/paged-list-repository.ts';
import { createPurchaseRepository } from '../../../lib/db/purchase-repository.ts';
import { createStreamMarkerRepository } from '../../../lib/db/stream-marker-repository.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import { createRateCache } from '../../../lib/money/exchange-rates/rate-cache.ts';
import { createRecordPurchase } from '../../../lib/purchases/record-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { addDays, listDays } from '../../../lib/shared/calendar.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { indexByPeriod, type ListKind } from '../../../lib/statistics/tally.ts';
import { waitForStream } from '../../../lib/statistics/wait-for-stream.ts';
import { createUniqueName, dayMs, startDate, testCipher } from '../../../testing/given.ts';
import { arbitraryHistories, createHistoryRunner } from '../../../testing/random-purchase-histories.ts';
import { createRecordedTable } from '../../../testing/recorded-table.ts';
import { createShardConsumer } from '../../../testing/shard-consumer.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let lists: PagedListRepository;
beforeAll(async () => {
  table = await createTestTable();
  lists = createPagedListRepository(table, createCounterRepository(table));
});

const whole = ['2026-01-01', '2026-03-31'] as const;
const later = startDate + 400 * dayMs;
const collections: readonly ListKind[] = ['P', 'T', 'C'];

/** An application whose purchases live while its stream is counted, or not. */
function newWorld(strategy: 'all' | 'first' | 'last', sizes: readonly number[] = [100]) {
  const appName = createUniqueName();
  const recorded = createRecordedTable(table, 3);
  const rates = createRateCache(createExchangeRateRepository(table), () => later);
  const live = createHistoryRunner(
    createRecordPurchase(createPurchaseRepository(recorded.table, testCipher), rates),
    appName,
    {
      strategy,
      from: startDate,
    },
  );
  const counters = createCounterRepository(table);
  const customers = { summarize: async () => undefined };
  const deps = {
    counters,
    customers,
    appItems: createAppItemRepository(table),
    streamMarkers: createStreamMarkerRepository(table),
    now: () => later,
  } as unknown as Deps;
  const consumers = recorded.shards.map((records, index) =>
    createShardConsumer(records, { shard: `shard-${index}`, sizes }),
  );
  return {
    ...{ appName, recorded, live, counters, deps, consumers },
    /** Requests at these days, and one of long ago, so that none of them counts as half deleted. */
    async ask(days: readonly number[]) {
      const dates = [startDate - 30 * dayMs, ...days.map((each) => startDate + each * dayMs + 1)];
      await recorded.table.batchPut(
        dates.map((date, index) => ({
          ...keys.eventKey(appName, `e${index}`),
          ...keys.eventIndexKeys(appName, `e${index}`, date),
          ...{ date, type: 'customer.read' },
        })),
      );
    },
    async countAll() {
      for (const consume of consumers) while (await consume(deps));
    },
  };
}
type World = ReturnType<typeof newWorld>;

async function rowsOf(appName: string, collection: ListKind): Promise<Item[]> {
  const entries = await table.query({ partition: keys.listPartition(appName, collection), index: 'byCreated' });
  return await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
}

/** The sums of each day and month, by adding up what the table holds one by one. */
async function plainSums(appName: string): Promise<Record<string, Record<string, number>>> {
  const sums: Record<string, Record<string, number>> = {};
  const add = (date: number, name: string, value = 1, hourly = false) => {
    const iso = new Date(date).toISOString();
    const names = {
      [iso.slice(0, 10)]: hourly ? `${name}.${Number(iso.slice(11, 13))}` : name,
      [iso.slice(0, 7)]: name,
    };
    for (const [period, each] of Object.entries(names)) {
      const sum = sums[period] ?? {};
      sums[period] = { ...sum, [each]: (sum[each] ?? 0) + value };
    }
  };
  for (const { createdAt } of await rowsOf(appName, 'C')) add(Number(createdAt), 'C', 1, true);
  for (const { pk, createdAt } of await rowsOf(appName, 'P')) {
    add(Number(createdAt), 'P', 1, true);
    const told = await table.query({ partition: String(pk), prefix: keys.notificationPrefix });
    for (const { date, reason } of told) add(Number(date), `N.${reason}`);
  }
  for (const item of await rowsOf(appName, 'T')) {
    const { purchaseDate, refundedAt, sandbox, amountMicros = 0 } = item.transaction as Transaction;
    add(purchaseDate, 'T', 1, true);
    add(purchaseDate, 'transactions');
    if (sandbox) continue;
    for (const name of ['paid', 'USD.paid', 'USD.transactions']) add(purchaseDate, name);
    for (const name of ['USD.micros', 'USD.usd']) add(purchaseDate, name, amountMicros);
    if (refundedAt !== undefined) for (const name of ['USD.micros', 'USD.usd']) add(refundedAt, name, -amountMicros);
  }
  const events = await Promise.all(
    keys.eventPartitions(appName).map(async (partition) => await table.query({ partition, index: 'byCreated' })),
  );
  for (const { createdSk } of events.flat()) add(keys.parseKeyTimestamp(String(createdSk)), 'requests');
  return sums;
}

/** Only what is there, of the periods that are recounted. */
const present = (sums: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
  Object.fromEntries(
    Object.entries(sums)
      .filter(([period]) => period >= '2026')
      .map(
        ([period, sum]) =>
          [period, Object.fromEntries(Object.entries(sum).filter(([, value]) => value !== 0))] as const,
      )
      .filter(([, sum]) => Object.keys(sum).length > 0),
  );

async function expectTruth({ appName, counters }: World, skips: readonly number[] = []): Promise<void> {
  const [days, months] = [await counters.listDays(appName, ...whole), await counters.listMonths(appName)];
  expect(present(Object.fromEntries(indexByPeriod([...days, ...months])))).toEqual(present(await plainSums(appName)));
  for (const collection of collections) {
    const rows = await rowsOf(appName, collection);
    for (const skip of skips) {
      const page = await lists.getPage(appName, collection, { skip, limit: 3, now: later });
      expect(page).toEqual({ items: rows.slice(skip, skip + 3), total: rows.length });
    }
  }
}

const anyDay = fc.nat(listDays(...whole).length - 1).map((index) => addDays(whole[0], index));
const anyHarm = fc.record({
  period: fc.oneof(
    fc.nat(30).map((index) => addDays(whole[0], index)),
    anyDay,
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
  ),
  /** Undefined where the counter is missing. */
  value: fc.option(fc.integer({ min: -3, max: 1_000 }), { nil: undefined }),
});
const anyRequests = fc.array(fc.nat(89), { maxLength: 6 });
const anySkips = fc.array(fc.nat(12), { minLength: 1, maxLength: 3 });

describe('after any history, recounting', () => {
  it('mends counters that are wrong, missing or should not be', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistories,
        anyRequests,
        fc.array(anyHarm, { minLength: 1, maxLength: 8 }),
        anySkips,
        async ({ strategy, deeds }, requests, harms, skips) => {
          const world = newWorld(strategy);
          const { appName, counters, deps } = world;
          await world.ask(requests);
          for (const deed of deeds) await world.live(deed);
          await world.countAll();
          for (const { period, name, value } of harms) {
            const key = keys.counterKey(appName, period);
            if (value === undefined) await table.transact([{ Delete: { TableName: table.name, Key: key } }]);
            else await counters.replaceTallies(appName, [{ period, change: (tally) => ({ ...tally, [name]: value }) }]);
          }
          await correctCounters(appName, { days: whole, differences: await recount(appName, whole, deps) }, deps);
          await expectTruth(world, skips);
        },
      ),
      { numRuns: 6 },
    );
  }, 120_000);

  it('of days that are parts of months mends what was never counted, though it crashes between any two writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistories,
        fc.integer({ min: 0, max: 40 }),
        fc.infiniteStream(fc.boolean()),
        async ({ strategy, deeds }, cut, chances) => {
          const world = newWorld(strategy);
          const { appName, deps } = world;
          await world.ask([3, 40]);
          for (const deed of deeds) await world.live(deed);
          // Records that the aggregator has given up.
          for (const records of world.recorded.shards) {
            const counted = records.splice(0).filter(() => chances.next().value);
            records.push(...counted);
          }
          await world.countAll();
          let stays = 0;
          const crashing: Table = {
            ...table,
            transact: async (writes) => {
              if (stays++ % 3 === 2) throw new Error('crashed before the write');
              await table.transact(writes);
              if (stays++ % 3 === 2) throw new Error('crashed after the write');
            },
          };
          const last = addDays(whole[0], cut);
          for (const days of [[whole[0], last] as const, [addDays(last, 1), whole[1]] as const]) {
            for (;;) {
              const differences = await recount(appName, days, deps);
              if (differences.length === 0) break;
              await correctCounters(
                appName,
                { days, differences },
                { counters: createCounterRepository(crashing) },
              ).catch(() => undefined);
            }
          }
          await expectTruth(world);
        },
      ),
      { numRuns: 4 },
    );
  }, 120_000);

  it('neither loses nor doubles what happens, and what is counted, while it works', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistories,
        arbitraryHistories,
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 16 }).map((sizes) => [...sizes, 400]),
        fc.infiniteStream(fc.nat(15)),
        async ({ strategy, deeds }, { deeds: meanwhile }, sizes, chances) => {
          const world = newWorld(strategy, sizes);
          const { appName, deps, consumers } = world;
          await world.ask([2]);
          for (const deed of deeds) await world.live(deed);
          // The aggregator is behind when the recount begins.
          const waiting = [...meanwhile];
          const step = async () => {
            const chance = chances.next().value;
            await consumers[chance]?.(deps);
            const deed = chance > 12 ? waiting.shift() : undefined;
            if (deed) await world.live(deed);
          };
          // One thing after the other, although the recount reads side by side.
          let steps = Promise.resolve();
          const goOn = async () => {
            steps = steps.then(step);
            await steps;
          };
          const moving: Table = {
            ...world.recorded.table,
            query: async (range) => {
              await goOn();
              const items = await table.query(range);
              await goOn();
              return items;
            },
          };
          const counters = createCounterRepository(moving);
          const differences = await recount(appName, whole, { appItems: createAppItemRepository(moving), counters });
          await waitForStream(appName, {
            streamMarkers: createStreamMarkerRepository(moving),
            now: () => later,
            wait: async () => {
              for (const consume of consumers) await consume(deps);
              await goOn();
            },
          });
          await goOn();
          await correctCounters(appName, { days: whole, differences }, { counters }).catch((error) =>
            expect(error).toMatchObject({ code: 'Conflict' }),
          );
          await world.countAll();
          await expectTruth(world);
        },
      ),
      { numRuns: 3 },
    );
  }, 120_000);

  it('is not corrected while the stream is not counted', async () => {
    let time = later;
    const wait = async (ms: number) => {
      time += 30 * ms;
    };
    await expect(
      waitForStream(createUniqueName(), { streamMarkers: createStreamMarkerRepository(table), now: () => time, wait }),
    ).rejects.toMatchObject({
      code: 'Conflict',
    });
  });
});
