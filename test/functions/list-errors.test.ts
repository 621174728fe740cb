import { beforeAll, describe, expect, it } from '@jest/globals';
import { listAnnotations } from '../../lib/annotations/contract.ts';
import type { Contract } from '../../lib/api/contract.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { listCreditHistory } from '../../lib/credits/contract.ts';
import { getCustomerClaims } from '../../lib/customers/claim-contract.ts';
import {
  getCustomer,
  getCustomerTimeline,
  getCustomerTransactions,
  listCustomers,
} from '../../lib/customers/contract.ts';
import { listEvents, searchEvents } from '../../lib/events/contract.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { getPurchaseTimeline } from '../../lib/purchases/timeline-contract.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { listRefundRequests } from '../../lib/refunds/contract.ts';
import { getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { getConversion, getLtv, getRetention } from '../../lib/statistics/cohort-contract.ts';
import { getStats, getStatsV2 } from '../../lib/statistics/contract.ts';
import { getCreditStats } from '../../lib/statistics/credit-stats-contract.ts';
import { getChurn, getMrr } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue } from '../../lib/statistics/revenue-contract.ts';
import { getWebhookStats, listDeliveries } from '../../lib/webhooks/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));
beforeAll(async () => {
  await givenPurchase(keys.appName, 'ann', createObservation());
});

const ask = async (contract: Contract, query: Record<string, string>) =>
  await callEndpoint(contract, { headers: buildBasicAuth(keys.appName, keys.secretKey), query });

/** Combines each contract with each value, for test titles. */
const pairs = (list: readonly Contract[], values: readonly string[]) =>
  list.flatMap((contract) => values.map((value) => [contract.id, value, contract] as const));

const figures = [getRevenue, getMrr, getChurn, getRetention, getConversion, getLtv];
const pages = [
  listCustomers,
  listPurchases,
  listTransactions,
  listEvents,
  getCustomer,
  getCustomerTransactions,
  getStatsBreakdown,
  ...figures,
];
const cursorPages = [
  listDeliveries,
  getCustomerClaims,
  getCustomerTimeline,
  getPurchaseTimeline,
  listRefundRequests,
  listCreditHistory,
];
const byMoment = [listPurchases, listTransactions, listEvents, searchEvents, listDeliveries, getWebhookStats];
const byDay = [getStats, getStatsV2, getCreditStats, listAnnotations, getStatsBreakdown, ...figures];

const noNumbers = ['-1', '1.5', '1e2', 'ten', 'NaN', 'Infinity', '0x10', ' 1', '+1', '١', '1,2', 'null'];
const tooLong = '9'.repeat(30);
const noDays = ['yesterday', '2026-02-31', '2026-13-01', '2026-00-10', '2026-1-1', '20260101', '1763700000000', 'null'];

/** Days outside the range of statistics. */
const daysOutside = ['0000-01-01', '0050-01-01', '1969-12-31', '3000-01-01', '9999-12-31'];
const noMoments = [
  ...noDays,
  '2026-01-01T25:00:00Z',
  '2026-01-01T',
  '2026-01-01T10:00:00+99:99',
  '2026-02-31T00:00:00Z',
];

it('covers every contract with paging and every contract with dates', () => {
  const listContractsWith = (field: string) =>
    contracts.filter(({ query }) => query && 'entries' in query && field in (query.entries as object));
  expect(
    listContractsWith('limit')
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...pages, ...cursorPages].map(({ id }) => id).sort());
  expect(
    listContractsWith('startdate')
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...byMoment, ...byDay].map(({ id }) => id).sort());
});

describe.each(['limit', 'skip', 'offset', 'startdate', 'enddate'])('an invalid %s', (name) => {
  const isDate = name.endsWith('date');
  const cases = isDate
    ? [...pairs(byMoment, noMoments), ...pairs(byDay, [...noDays, ...daysOutside, '2026-01-01T00:00:00Z'])]
    : [
        ...pairs(pages, name === 'limit' ? [...noNumbers, '0'] : [...noNumbers, tooLong]),
        ...pairs([listEvents], name === 'limit' ? ['1001', tooLong] : []),
        ...pairs(cursorPages, name === 'limit' ? [...noNumbers, '0', '201', tooLong] : []),
      ];

  it.each(sampleItems(cases, 50, name))('%s rejects the value: %s', async (_id, value, contract) => {
    const { status, body } = await ask(contract, { [name]: value });
    expect([status, body.code, body.ok]).toEqual([400, 'InvalidPayload', false]);
    // The message contains the parameter and not the value.
    expect(body.message).toContain(name);
  });

  it.each(pairs(isDate ? [...byMoment, ...byDay] : pages, ['']))(
    '%s accepts an empty value%s',
    async (_id, value, contract) => {
      expect(await ask(contract, { [name]: value })).toMatchObject({ status: 200 });
    },
  );
});

describe('limit', () => {
  it.each(pairs([listCustomers, listPurchases, listTransactions], ['1001', '5000', '2147483648', tooLong]))(
    '%s applies and returns the maximum for: %s',
    async (_id, limit, contract) => {
      const { status, body } = await ask(contract, { limit });
      expect([status, body.paging.limit]).toEqual([200, 1000]);
    },
  );

  it.each(pairs([listPurchases], ['0', '5000', ...noNumbers]))(
    '%s ignores limit, skip and offset with a date: %s',
    async (_id, value, contract) => {
      const page = { limit: value, skip: value, offset: value };
      expect(await ask(contract, { ...page, startdate: '2026-01-31' })).toMatchObject({ status: 200 });
      expect(await ask(contract, { ...page, enddate: '2026-01-31' })).toMatchObject({ status: 200 });
    },
  );

  it('applies with an empty date', async () => {
    expect(await ask(listPurchases, { startdate: '', limit: '0' })).toMatchObject({ status: 400 });
  });
});

describe('startdate', () => {
  it.each([
    '2026-01-31',
    '2026-01-31T10:20',
    '2026-01-31T10:20:30',
    '2026-01-31T10:20:30Z',
    '2026-01-31T10:20:30.123Z',
    '2026-01-31T10:20:30.123456Z',
    '2026-01-31T10:20:30+02:00',
    '2026-01-31T10:20:30+0200',
    '2026-01-31 10:20:30',
    '2024-02-29',
  ])('accepts %s', async (startdate) => {
    for (const contract of byMoment) expect(await ask(contract, { startdate })).toMatchObject({ status: 200 });
  });
});

describe('the range of statistics', () => {
  it.each(pairs([getStats, getStatsV2], ['1970-01-01', '2999-12-31']))(
    '%s accepts the day %s',
    async (_id, day, contract) => {
      const { status, body } = await ask(contract, { startdate: day, enddate: day });
      expect(status).toBe(200);
      expect(body.dailyStats).toMatchObject([{ date: expect.stringContaining(day.slice(0, 4)), numTransactions: 0 }]);
    },
  );
});

const lists = [listPurchases, listTransactions, listEvents];

/** Number of rows of a list. Each request adds an event. */
async function rowsOf(contract: Contract, query: Record<string, string>): Promise<number> {
  const { status, body } = await ask(contract, query);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.rows.length;
}

describe.each(lists.map((contract) => [contract.id, contract] as const))('%s', (_id, contract) => {
  it.each([
    { enddate: '2262-04-11' },
    { enddate: '2286-11-21' },
    { enddate: '2300-01-01' },
    { enddate: '2999-12-31T23:59:59Z' },
    { startdate: '1960-01-01', enddate: '2300-01-01' },
    { startdate: '1000-01-01' },
  ])('returns the rows between extreme dates: %j', async (query) => {
    expect(await rowsOf(contract, query)).toBeGreaterThan(0);
  });

  it.each([
    { startdate: '1000-01-01', enddate: '1500-01-01' },
    { startdate: '1960-01-01', enddate: '1969-01-01' },
    { enddate: '1969-12-31' },
    { enddate: '1970-01-01' },
    { startdate: '2260-01-01' },
    { startdate: '2300-01-01' },
    { startdate: '2300-01-01', enddate: '2400-01-01' },
    { startdate: '2300-01-01', enddate: '1000-01-01' },
  ])('returns no rows for a period without data: %j', async (query) => {
    expect(await rowsOf(contract, query)).toBe(0);
    expect(await rowsOf(contract, { ...query, skip: '3', limit: '2' })).toBe(0);
  });
});
