import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pMap from 'p-map';
import * as keys from '../../../lib/foundation/keys.ts';
import type { ItemImage, StreamRecord } from '../../../lib/foundation/stream-record.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { parseStreamRecord } from '../../../lib/purchases/stream-record.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { countStoredItem, sumDailyCounts } from '../../../lib/statistics/count-item.ts';
import { counterKey } from '../../../lib/statistics/counter-key.ts';
import { listCounterDays, listCounterMonths } from '../../../lib/statistics/counter-table.ts';
import { addCounts, type Counts, collapseHours, indexByPeriod } from '../../../lib/statistics/counts.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildLambdaRecord, buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';

const table = startBeforeAll(createTestTable);

type CountsByPeriod = ReadonlyMap<string, Counts>;

const buildTransactionItem = (appName: string, id: number, fields: Partial<Transaction>): ItemImage => ({
  ...keys.transactionKey(appName, `store_a:${id}`, `store_a:${id}`),
  transaction: { ...createTransaction(createObservation().purchase), transactionId: `store_a:${id}`, ...fields },
});

const countTransactionItem = (item: ItemImage): CountsByPeriod => countStoredItem({ kind: 'transaction', item }).days;

interface TransactionWrite {
  readonly id: number;
  readonly fields: Partial<Transaction>;
}

/** Returns the stream records of the writes and the items after the last write. */
function buildHistory(appName: string, writes: readonly TransactionWrite[]) {
  const items = new Map<number, ItemImage>();
  const records = writes.map(({ id, fields }, position) => {
    const before = items.get(id);
    const after = buildTransactionItem(appName, id, fields);
    items.set(id, after);
    return buildStreamRecord({ after, ...(before && { before }) }, position);
  });
  return { records, items: [...items.values()] };
}

interface BatchOptions {
  /** Sizes of the batches, in turns. */
  readonly batchSizes: readonly number[];
  readonly crashes: () => boolean;
}

/** Delivers the records in order like Lambda. Repeats failed records in a batch of a different size. */
async function deliverInBatches(records: readonly StreamRecord[], { batchSizes, crashes }: BatchOptions) {
  const service = createAggregationService(table, crashes);
  let delivered = 0;
  for (let turn = 0; delivered < records.length; turn++) {
    const batch = records.slice(delivered, delivered + (batchSizes[turn % batchSizes.length] ?? 1));
    const isSuccess = await aggregateStreamRecords(service, batch, 'shard-1').then(
      () => true,
      () => false,
    );
    if (isSuccess) delivered += batch.length;
  }
}

async function readCounters(appName: string) {
  return {
    days: omitEmpty(
      indexByPeriod(
        await listCounterDays(createAggregationService(table), appName, { days: ['2000-01-01', '2099-12-31'] }),
      ),
    ),
    months: omitEmpty(indexByPeriod(await listCounterMonths(createAggregationService(table), appName))),
  };
}

/** Computes the counters from the items in the table. */
function computeCounters(items: readonly ItemImage[]) {
  const days = sumDailyCounts(...items.map(countTransactionItem));
  const months = new Map<string, Counts>();
  for (const [day, counts] of days) {
    const month = day.slice(0, 7);
    months.set(month, addCounts(months.get(month) ?? {}, collapseHours(counts)));
  }
  return { days: omitEmpty(days), months: omitEmpty(months) };
}

const omitEmpty = (countsByDay: CountsByPeriod) =>
  Object.fromEntries([...countsByDay].filter(([, counts]) => Object.keys(counts).length > 0).sort());

const arbitraryWrite: fc.Arbitrary<TransactionWrite> = fc.record({
  id: fc.integer({ min: 0, max: 8 }),
  fields: fc.record(
    {
      purchaseDate: fc.integer({ min: 0, max: 70 }).map((days) => startDate + days * dayMs + 2 * hourMs),
      amountMicros: fc.integer({ min: 0, max: 9_990_000 }),
      currency: fc.constantFrom('USD', 'EUR'),
      sandbox: fc.boolean(),
      refundedAt: fc.integer({ min: 0, max: 90 }).map((days) => startDate + days * dayMs),
      partialRefunds: fc.array(
        fc.record({
          id: fc.uuid(),
          date: fc.integer({ min: 0, max: 90 }).map((days) => startDate + days * dayMs),
          amountMicros: fc.integer({ min: 0, max: 5_000_000 }),
        }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['purchaseDate', 'amountMicros', 'currency', 'sandbox'] },
  ),
});
const arbitraryWrites = fc.array(arbitraryWrite, { minLength: 1, maxLength: 25 });
const arbitraryBatchSizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 });

/** A tenth of the updates crash, on average. */
const arbitraryCrashes = fc.infiniteStream(fc.integer({ min: 0, max: 9 }).map((digit) => digit === 0));

describe('aggregateStreamRecords', () => {
  it(
    'counts each record exactly once for any batches and crashes',
    async () => {
      const property = fc.asyncProperty(
        arbitraryWrites,
        arbitraryBatchSizes,
        arbitraryCrashes,
        async (writes, batchSizes, crashes) => {
          const appName = createUniqueName();
          const { records, items } = buildHistory(appName, writes);
          await deliverInBatches(records, { batchSizes, crashes: () => crashes.next().value });
          // Lambda repeats a batch if it does not receive the response.
          await aggregateStreamRecords(createAggregationService(table), records.slice(0, 3), 'shard-1');
          expect(await readCounters(appName)).toEqual(computeCounters(items));
        },
      );
      await fc.assert(property, sampleRuns({ sample: 6, full: 100 }));
    },
    10 * minuteMs,
  );

  it('keeps a separate checkpoint for each shard', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const fields = { purchaseDate: startDate, amountMicros: 1_000_000, currency: 'USD', sandbox: false };
    const recordOfShard1 = buildStreamRecord({ after: buildTransactionItem(appName, 1, fields) }, 7);
    const recordOfShard2 = buildStreamRecord({ after: buildTransactionItem(appName, 2, fields) }, 5);
    await Promise.all([
      aggregateStreamRecords(service, [recordOfShard1], 'shard-1'),
      aggregateStreamRecords(service, [recordOfShard2], 'shard-2'),
    ]);
    await aggregateStreamRecords(service, [recordOfShard1], 'shard-1');
    const [counter] = await listCounterDays(service, appName, { days: ['2026-01-01', '2026-01-01'] });
    expect(counter?.counts).toMatchObject({ transactions: 2, paid: 2, 'USD.micros': 2_000_000, 'T.0': 2 });
  });

  it(
    'counts records of 80 shards exactly once, in counters that do not grow with the shards',
    async () => {
      const appName = createUniqueName();
      let writes = 0;
      const service = createAggregationService(table, () => ++writes % 97 === 0);
      const shards = Array.from({ length: 80 }, (_, shard) => {
        const [first, second] = [0, 1].map((part) => {
          const event = { ...keys.eventKey(appName, `${shard}-${part}`), date: startDate, type: 'receipt.validated' };
          return buildStreamRecord({ after: event }, part * 80 + shard);
        });
        return { shardId: `shard-${shard}`, batches: [[first], [first, second]] as StreamRecord[][] };
      });
      const deliver = async (batch: readonly StreamRecord[], shardId: string): Promise<void> =>
        await aggregateStreamRecords(service, batch, shardId).catch(async () => await deliver(batch, shardId));
      // The second batch of each shard repeats its first record, after 79 other shards have written the counters.
      for (const turn of [0, 1])
        await pMap(shards, async ({ shardId, batches }) => await deliver(batches[turn] ?? [], shardId), {
          concurrency: 2,
        });
      for (const period of ['2026-01-01', '2026-01']) {
        const item = await table.get(counterKey(appName, period));
        expect(item).toMatchObject({ counts: { requests: 160 } });
        expect(JSON.stringify(item).length).toBeLessThan(1_800);
      }
    },
    10 * minuteMs,
  );

  it('skips and reports records that it cannot read, and counts the others', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const fields = { purchaseDate: startDate, amountMicros: 1_000_000, currency: 'USD', sandbox: false };
    const unreadable = { ...buildTransactionItem(appName, 1, fields), transaction: 7 };
    const records = [unreadable, buildTransactionItem(appName, 2, fields)].map((after, position) =>
      buildStreamRecord({ after }, position),
    );
    await aggregateStreamRecords(service, records, 'shard');
    const [counter] = await listCounterDays(service, appName, { days: ['2026-01-01', '2026-01-01'] });
    expect(counter?.counts).toMatchObject({ transactions: 1 });
    const { key, writtenAt } = records[0] as StreamRecord;
    const reason = 'transaction: expected an object.';
    expect(service.sentFailures).toEqual([{ worker: 'aggregate-statistics', appName, key, reason, writtenAt }]);
  });

  it('skips and reports a counter that it cannot read, and writes the others', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const key = counterKey(appName, '2026-01');
    await table.batchPut([{ ...key, counts: 'none' }]);
    const event = { ...keys.eventKey(appName, 'e'), date: startDate, type: 'receipt.validated' };
    await aggregateStreamRecords(service, [buildStreamRecord({ after: event }, 1)], 'shard');
    expect((await listCounterDays(service, appName, { days: ['2026-01-01', '2026-01-01'] }))[0]?.counts).toEqual({
      requests: 1,
    });
    expect(service.sentFailures).toMatchObject([{ worker: 'aggregate-statistics', appName, key }]);
  });

  it('keeps counting an event that TTL deleted', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const event = { ...keys.eventKey(appName, 'e'), date: startDate, type: 'receipt.validated' };
    const ttlDeletion = parseStreamRecord({
      ...buildLambdaRecord({ before: event }, 2),
      userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    });
    await aggregateStreamRecords(service, [buildStreamRecord({ after: event }, 1), ttlDeletion], 'shard-1');
    expect((await listCounterMonths(service, appName))[0]?.counts).toEqual({ requests: 1 });
  });

  it('counts amounts beyond 53 bits, which currencies with small units reach', async () => {
    const service = createAggregationService(table);
    const appName = createUniqueName();
    for (const id of [1, 2, 3, 4]) {
      const after = buildTransactionItem(appName, id, {
        currency: 'VND',
        amountMicros: 3_000_000_000_000_000 + id * 1_000_000,
        purchaseDate: startDate + id * dayMs,
      });
      await aggregateStreamRecords(service, [buildStreamRecord({ after }, id - 1)], 'shard');
    }
    const [counter] = await listCounterMonths(service, appName);
    expect(JSON.stringify(counter)).toContain('12000000010000000');
  });
});

const buildRefundCounts = (micros: number): Counts => ({
  'USD.micros': -micros,
  'USD.usd': -micros,
  'store_a/USD.micros': -micros,
  'store_a/usd': -micros,
});

describe('aggregateStreamRecords (sandbox)', () => {
  it('writes no counter of the sandbox for items outside it', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const read = async () => await listCounterMonths(service, appName, { isSandbox: true });
    const build = (id: number, sandbox: boolean, position: number) =>
      buildStreamRecord({ after: buildTransactionItem(appName, id, { sandbox }) }, position);
    await aggregateStreamRecords(service, [build(1, false, 1)], 'shard-1');
    expect(await read()).toEqual([]);
    await aggregateStreamRecords(service, [build(2, true, 2)], 'shard-1');
    expect(await read()).toMatchObject([{ period: '2026-01', counts: { paid: 1, 'store_a/paid': 1 } }]);
  });
});

describe('countStoredItem', () => {
  it('subtracts each partial refund on its day, and the rest on the day of the full refund', () => {
    const item = buildTransactionItem('app', 1, {
      purchaseDate: startDate,
      amountMicros: 4_990_000,
      currency: 'USD',
      sandbox: false,
      partialRefunds: [{ id: 'a', date: startDate + dayMs, amountMicros: 1_000_000 }],
      refundedAt: startDate + 3 * dayMs,
    });
    const days = countTransactionItem(item);
    expect(days.get('2026-01-01')).toMatchObject({ 'USD.micros': 4_990_000, paid: 1 });
    expect(days.get('2026-01-02')).toEqual(buildRefundCounts(1_000_000));
    expect(days.get('2026-01-04')).toEqual(buildRefundCounts(3_990_000));
  });

  it('counts a sandbox transaction as a row of the list only', () => {
    const sandboxItem = buildTransactionItem('app', 1, {
      purchaseDate: startDate,
      amountMicros: 5,
      currency: 'USD',
      sandbox: true,
      refundedAt: startDate,
    });
    expect(omitEmpty(countTransactionItem(sandboxItem))).toEqual({
      '2026-01-01': { 'T.0': 1 },
    });
  });

  it('subtracts a refund on the day of the refund', () => {
    const refundedItem = buildTransactionItem('app', 1, {
      purchaseDate: startDate,
      amountMicros: 4_990_000,
      currency: 'USD',
      sandbox: false,
      refundedAt: startDate + 3 * dayMs,
    });
    const days = countTransactionItem(refundedItem);
    expect(days.get('2026-01-01')).toMatchObject({ 'USD.micros': 4_990_000, paid: 1 });
    expect(days.get('2026-01-04')).toEqual(buildRefundCounts(4_990_000));
  });
});
