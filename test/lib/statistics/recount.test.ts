import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAppItemRepository } from '../../../lib/db/app-item-repository.ts';
import { createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../../lib/db/customer-repository.ts';
import * as keys from '../../../lib/db/keys.ts';
import { createStreamMarkerRepository } from '../../../lib/db/stream-marker-repository.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { createObservation, createTransaction, createUniqueName, dayMs, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const days = ['2026-01-01', '2026-02-15'] as const;
const february = ['2026-02-01', '2026-02-15'] as const;

/** An application's items: two purchases with payments, one of them refunded later, a customer, a notification, an event. */
function itemsOf(appName: string): Item[] {
  const purchases = [0, 1].map((index) => ({
    ...keys.purchaseKey(appName, `store_a:${index}`),
    ...keys.purchaseIndexKeys(appName, `store_a:${index}`, {
      createdAt: startDate + index * dayMs,
      updatedAt: startDate,
    }),
    createdAt: startDate + index * dayMs,
    version: 1,
    entitledUsers: [],
  }));
  const payments = [0, 1, 2, 3].map((index) => {
    const purchaseId = `store_a:${index % 2}`;
    const transactionId = `store_a:${index}`;
    const purchaseDate = startDate + index * 11 * dayMs;
    const refunded = index === 3 && { refundedAt: startDate + 40 * dayMs };
    return {
      ...keys.transactionKey(appName, purchaseId, transactionId),
      ...keys.transactionIndexKeys(appName, purchaseId, { transactionId, purchaseDate }),
      transaction: {
        ...createTransaction(createObservation().purchase),
        purchaseId,
        transactionId,
        purchaseDate,
        ...refunded,
      },
    };
  });
  const date = startDate + 5 * dayMs;
  return [
    ...purchases,
    ...payments,
    { ...keys.notificationKey(appName, 'store_a:0', date, 'n'), id: 'n', date, reason: 'RENEWED' },
    {
      ...keys.customerKey(appName, 'ann'),
      ...keys.customerIndexKeys(appName, 'ann', startDate),
      username: 'ann',
      createdAt: startDate,
    },
    ...[0, 30].map((index) => ({
      ...keys.eventKey(appName, `e${index}`),
      ...keys.eventIndexKeys(appName, `e${index}`, startDate + index * dayMs),
      date: startDate + index * dayMs,
      type: 'customer.read',
    })),
  ];
}

async function givenCounted(counted: (items: readonly Item[]) => readonly Item[] = (items) => items) {
  const appName = createUniqueName();
  const counters = createCounterRepository(table);
  const deps = {
    counters,
    customers: createCustomerRepository(table),
    appItems: createAppItemRepository(table),
    streamMarkers: createStreamMarkerRepository(table),
  } as unknown as Deps;
  const items = itemsOf(appName);
  await table.batchPut(items);
  const records = counted(items).map((after, index) => buildStreamRecord({ after }, index));
  await aggregateStreamRecords(records, 'shard', deps);
  return { appName, deps, items };
}

const isPayment = ({ sk }: Item): boolean => sk === 'T#store_a:3';

describe('recounting', () => {
  it('agrees with counters that saw every record', async () => {
    const { appName, deps } = await givenCounted();
    expect(await recount(appName, days, deps)).toEqual([]);
  });

  it('finds a payment that was never counted on its day and on the day of its refund', async () => {
    const { appName, deps } = await givenCounted((items) => items.filter((item) => !isPayment(item)));
    const differences = await recount(appName, days, deps);
    expect(differences.map(({ period }) => period)).toEqual(['2026-02-03', '2026-02-10']);
    expect(differences.map(({ change }) => change['USD.micros'])).toEqual([4_990_000, -4_990_000]);
  });

  it('corrects days and the months around them, so that a second recount agrees', async () => {
    const { appName, deps } = await givenCounted((items) => items.filter((item) => !isPayment(item)));
    await correctCounters(appName, { days: february, differences: await recount(appName, february, deps) }, deps);
    expect(await recount(appName, ['2026-01-01', '2026-02-28'], deps)).toEqual([]);
  });

  it('corrects a month that lies in the range whole', async () => {
    const { appName, deps } = await givenCounted();
    await deps.counters.replaceTallies(appName, [
      { period: '2026-01', change: (tally) => ({ ...tally, transactions: 77 }) },
    ]);
    const whole = ['2026-01-01', '2026-01-31'] as const;
    const differences = await recount(appName, whole, deps);
    expect(differences.map(({ period, change }) => [period, change])).toEqual([['2026-01', { transactions: -74 }]]);
    await correctCounters(appName, { days: whole, differences }, deps);
    expect(await recount(appName, whole, deps)).toEqual([]);
  });

  it('corrects nothing that was counted since', async () => {
    const { appName, deps, items } = await givenCounted((all) => all.filter((item) => !isPayment(item)));
    const differences = await recount(appName, february, deps);
    const late = items.filter(isPayment).map((after) => buildStreamRecord({ after }, 1_000));
    await aggregateStreamRecords(late, 'shard', deps);
    await expect(correctCounters(appName, { days: february, differences }, deps)).rejects.toMatchObject({
      code: 'Conflict',
    });
    expect(await recount(appName, ['2026-02-01', '2026-02-28'], deps)).toEqual([]);
  });

  it('keeps the requests of days whose events have ended', async () => {
    const { appName, deps } = await givenCounted();
    await deps.counters.replaceTallies(appName, [
      { period: '2026-01-02', change: (tally) => ({ ...tally, requests: 9 }) },
    ]);
    expect(await recount(appName, ['2026-01-01', '2026-01-15'], deps)).toEqual([]);
  });
});
