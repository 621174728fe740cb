import { describe, expect, it } from '@jest/globals';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import {
  listCountedProducts,
  listCounterDays,
  listCounterMonths,
  replaceCounts,
} from '../../../lib/statistics/counter-table.ts';
import type { Counts } from '../../../lib/statistics/counts.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';

const table = startBeforeAll(createTestTable);

const days = ['2026-01-01', '2026-02-15'] as const;
const february = ['2026-02-01', '2026-02-15'] as const;

/** Builds two purchases, four payments of which the last is refunded, a notification, a customer and two events. */
function buildItems(appName: string): Item[] {
  const purchases = [0, 1].map((index) => {
    const createdAt = startDate + index * dayMs;
    return {
      ...keys.purchaseKey(appName, `store_a:${index}`),
      ...keys.purchaseIndexKeys(appName, `store_a:${index}`, { createdAt, updatedAt: startDate }),
      createdAt,
      checkedAt: createdAt,
      version: 1,
      entitledUsers: [],
      purchase: createObservation({ purchaseId: `store_a:${index}` }).purchase,
    };
  });
  const payments = [0, 1, 2, 3].map((index) => {
    const purchaseId = `store_a:${index % 2}`;
    const transactionId = `store_a:${index}`;
    const purchaseDate = startDate + index * 11 * dayMs;
    const refund = index === 3 && { refundedAt: startDate + 40 * dayMs };
    return {
      ...keys.transactionKey(appName, purchaseId, transactionId),
      ...keys.transactionIndexKeys(appName, purchaseId, { transactionId, purchaseDate }),
      transaction: {
        ...createTransaction(createObservation().purchase),
        purchaseId,
        transactionId,
        purchaseDate,
        ...refund,
      },
    };
  });
  const date = startDate + 5 * dayMs;
  return [
    ...purchases,
    ...payments,
    {
      ...keys.notificationKey(appName, 'store_a:0', date, 0, 'n'),
      id: 'n',
      date,
      reason: 'RENEWED',
      platform: 'store_a',
      productId: 'store_a:monthly',
    },
    {
      ...keys.customerKey(appName, 'ann'),
      ...keys.customerIndexKeys(appName, 'ann', startDate),
      username: 'ann',
      createdAt: startDate,
    },
    ...[0, 30].map((index) => ({
      ...keys.eventKey(appName, createEventId(startDate + index * dayMs)),
      date: startDate + index * dayMs,
      type: 'customer.read',
    })),
  ];
}

/** Writes the items of an app and counts those that `select` returns. */
async function givenCountedItems(select: (items: readonly Item[]) => readonly Item[] = (items) => items) {
  const appName = createUniqueName();
  const service = createAggregationService(table);
  const items = buildItems(appName);
  await table.batchPut(items);
  const records = select(items).map((after, index) => buildStreamRecord({ after }, index));
  await aggregateStreamRecords(service, records, 'shard');
  return { appName, service, items };
}

const isRefundedPayment = ({ sk }: Item): boolean => sk === 'T#store_a:3';
const omitRefundedPayment = (items: readonly Item[]) => items.filter((item) => !isRefundedPayment(item));

describe('recount', () => {
  it('returns no differences if all records are counted', async () => {
    const { appName, service } = await givenCountedItems();
    expect(await recount(service, appName, days)).toEqual([]);
  });

  it('finds a payment that was not counted on its day and on the day of its refund', async () => {
    const { appName, service } = await givenCountedItems(omitRefundedPayment);
    const differences = await recount(service, appName, days);
    const periods = ['2026-02-03', '2026-02-10'];
    expect(differences.map(({ period }) => period)).toEqual([...periods, ...periods]);
    const amounts = [4_990_000, -4_990_000];
    expect(differences.map(({ change }) => change['USD.micros'])).toEqual([...amounts, ...amounts]);
    const product = { platform: 'store_a', productId: 'store_a:monthly' };
    expect(differences.map((difference) => difference.product)).toEqual([undefined, undefined, product, product]);
  });

  it('keeps the numbers of events for days whose events have expired', async () => {
    const { appName, service } = await givenCountedItems();
    const change = (counts: Counts) => ({ ...counts, requests: 9, 'store_a/received': 4 });
    await replaceCounts(service, appName, [{ period: '2026-01-02', change }]);
    expect(await recount(service, appName, ['2026-01-01', '2026-01-15'])).toEqual([]);
  });
});

describe('correctCounters', () => {
  it('creates the missing counters of products and platforms', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const items = buildItems(appName).map((item) => (item.sk === 'P' ? { ...item, entitledUsers: ['ann'] } : item));
    await table.batchPut(items);
    const range = ['2026-01-01', '2026-02-15'] as const;
    expect(await listCountedProducts(service, appName)).toEqual([]);
    await correctCounters(service, appName, { days: range, differences: await recount(service, appName, range) });
    expect(await recount(service, appName, range)).toEqual([]);
    const product = { platform: 'store_a', productId: 'store_a:monthly' } as const;
    expect(await listCountedProducts(service, appName)).toEqual([product]);
    const [first] = await listCounterDays(service, appName, { days: range, product });
    expect(first).toMatchObject({
      period: '2026-01-01',
      counts: { active: 2, transactions: 1, paid: 1, usd: 4_990_000 },
    });
    const [january, february] = await listCounterMonths(service, appName, { months: ['', '9999'], product });
    expect([january?.counts, february]).toEqual([{ active: 2 }, undefined]);
    const [renewal] = await listCounterDays(service, appName, { days: ['2026-01-06', '2026-01-06'], product });
    expect(renewal?.counts).toEqual({ 'N.RENEWED': 1 });
  });

  it('counts later changes of corrected data once', async () => {
    const appName = createUniqueName();
    const service = createAggregationService(table);
    const items = buildItems(appName);
    await table.batchPut(items);
    await correctCounters(service, appName, { days, differences: await recount(service, appName, days) });
    const before = items.find(({ sk }) => sk === 'P');
    const after = { ...before, pk: String(before?.pk), sk: 'P', entitledUsers: ['ann'], version: 2 };
    await table.batchPut([after]);
    const record = buildStreamRecord({ ...(before && { before }), after }, 1);
    for (const repeated of [[record], [record, record]]) await aggregateStreamRecords(service, repeated, 'shard');
    expect(await recount(service, appName, days)).toEqual([]);
  });

  it('corrects days and the months that contain them', async () => {
    const { appName, service } = await givenCountedItems(omitRefundedPayment);
    await correctCounters(service, appName, { days: february, differences: await recount(service, appName, february) });
    expect(await recount(service, appName, ['2026-01-01', '2026-02-28'])).toEqual([]);
  });

  it('corrects a month that is completely in the range', async () => {
    const { appName, service } = await givenCountedItems();
    await replaceCounts(service, appName, [
      { period: '2026-01', change: (counts) => ({ ...counts, transactions: 77 }) },
    ]);
    const january = ['2026-01-01', '2026-01-31'] as const;
    const differences = await recount(service, appName, january);
    expect(differences.map(({ period, change }) => [period, change])).toEqual([['2026-01', { transactions: -74 }]]);
    await correctCounters(service, appName, { days: january, differences });
    expect(await recount(service, appName, january)).toEqual([]);
  });

  it('rejects the correction of counters that changed since the recount', async () => {
    const { appName, service, items } = await givenCountedItems(omitRefundedPayment);
    const differences = await recount(service, appName, february);
    const lateRecords = items.filter(isRefundedPayment).map((after) => buildStreamRecord({ after }, 1_000));
    await aggregateStreamRecords(service, lateRecords, 'shard');
    await expect(correctCounters(service, appName, { days: february, differences })).rejects.toMatchObject({
      code: 'Conflict',
    });
    expect(await recount(service, appName, ['2026-02-01', '2026-02-28'])).toEqual([]);
  });
});
