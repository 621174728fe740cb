import { describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/contracts/index.ts';
import { listCustomers } from '../../lib/customers/contract.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

const applicationUsername = createUniqueName('nobody');
const revenueHead = { countedUntil: expect.any(String), interval: 'month', by: 'none', unconvertedShare: 0 };
const figureHead = { ...revenueHead, amount: 'after_refunds' };
const noRows = { paging: { skip: 0, limit: 100, total: 0 }, rows: [] };
const noSuch = { ok: false, status: 404, code: 'ResourceNotFound', message: expect.any(String) };
const noCounts = { amountUSD: 0, amountMicros: {}, numRequests: 0, numTransactions: 0, numPaidTransactions: 0 };
const noMonthOfDays = { monthlyRevenueUSD: 0, monthlyTransactions: 0, monthlyPaidTransactions: 0 };
const noMoney = { amountUSD: 0, numTransactions: 0 };

/** Expected response of each GET endpoint for an app without data. */
const answers: Readonly<Record<string, object>> = {
  'list-customers': noRows,
  'get-customer': {
    applicationUsername,
    purchases: {},
    transactions: [],
    events: [],
    customerInfo: { activeSubscriber: false, lapsedSubscriber: false },
  },
  'get-customer-purchases': { applicationUsername, purchases: {} },
  'get-customer-subscription': { applicationUsername },
  'get-customer-transactions': { applicationUsername, transactions: [] },
  'list-purchases': noRows,
  'get-purchase': noSuch,
  'get-refresh-token': noSuch,
  'list-purchase-actions': noSuch,
  'list-transactions': noRows,
  'get-transaction': noSuch,
  'get-stats': {
    dailyStats: Array(31).fill({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), ...noCounts, ...noMonthOfDays }),
    monthlyStats: Array(12).fill({ date: expect.stringMatching(/^\d{4}-\d\d$/), ...noCounts }),
  },
  'get-stats-breakdown': {
    countedUntil: expect.any(String),
    interval: 'day',
    by: 'none',
    groups: [
      {
        totals: expect.objectContaining({ amountUSD: 0 }),
        rows: Array(31).fill({
          date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          enddate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          ...noMoney,
          amountMicros: {},
          numPaidTransactions: 0,
          unconvertedShare: 0,
          notifications: expect.any(Object),
          subscriptionNotifications: expect.any(Object),
          activeSubscriptions: 0,
          activeTrials: 0,
          unverifiedSubscriptions: 0,
          trialsStarted: 0,
          trialsConverted: 0,
          trialsEnded: 0,
          startedTrials: { converted: 0, ended: 0 },
        }),
      },
    ],
  },
  'get-revenue': {
    ...revenueHead,
    totals: expect.any(Object),
    rows: Array(12).fill({
      date: expect.any(String),
      grossUSD: 0,
      refundsUSD: 0,
      commissionUSD: 0,
      taxUSD: 0,
      proceedsUSD: 0,
      unconvertedShare: 0,
      currencies: {},
    }),
  },
  'get-credit-stats': { countedUntil: expect.any(String), credits: {} },
  'get-mrr': {
    ...figureHead,
    totals: expect.any(Object),
    rows: Array(12).fill({
      date: expect.any(String),
      mrrUSD: 0,
      arrUSD: 0,
      movement: { new: 0, expansion: 0, contraction: 0, churned: 0, reactivated: 0, exchange: 0 },
      unconvertedShare: 0,
    }),
  },
  'get-churn': {
    ...figureHead,
    totals: expect.any(Object),
    rows: Array(12).fill({
      date: expect.any(String),
      activeAtStart: 0,
      churned: 0,
      churnRate: 0,
      churnedMrrUSD: 0,
      revenueChurnRate: 0,
      voluntary: 0,
      involuntary: 0,
      unconvertedShare: 0,
    }),
  },
  'get-retention': { ...figureHead, cohorts: Array(12).fill(expect.objectContaining({ size: 0 })) },
  'get-ltv': { ...figureHead, cohorts: Array(12).fill(expect.objectContaining({ customers: 0, payers: 0 })) },
  'get-conversion': { ...figureHead, cohorts: Array(12).fill(expect.objectContaining({ trials: 0, converted: 0 })) },
  'list-annotations': { rows: [], priceChanges: [] },
  'get-stats-v2': {
    dailyStats: Array(31).fill({
      date: expect.stringMatching(/^\d{8}$/),
      ...noMoney,
      monthlyRevenueUSD: 0,
      monthlyTransactions: 0,
    }),
    monthlyStats: noMoney,
  },
  'get-app-stats': {
    monthlyQuota: expect.any(Number),
    thisMonth: 0,
    lastMonth: 0,
    reqThisMonth: 0,
    reqLastMonth: 0,
  },
  'list-events': { ok: true, rows: [] },
  'search-events': { ok: true, rows: [] },
  'get-event': noSuch,
  'get-event-analysis': noSuch,
  'get-event-raw': noSuch,
  'list-refund-requests': { rows: [] },
  'get-refund-request': noSuch,
  'list-deliveries': { rows: [] },
  'get-webhook-stats': { countedFrom: expect.any(String), isComplete: true, rows: [] },
  'get-store-settings': { platform: 'store_a', fields: expect.any(Array) },
  'get-delivery': noSuch,
  'get-customer-claims': { applicationUsername, rows: [] },
  'get-customer-timeline': { applicationUsername, rows: [] },
  'get-purchase-owners': noSuch,
  'get-purchase-timeline': noSuch,
  search: { ok: false, status: 400, code: 'InvalidPayload', message: expect.any(String) },
  'get-due': {
    appName: expect.any(String),
    countedUntil: expect.any(String),
    // One index has the due refreshes of all apps: behind many of other apps, the count is not exact.
    overdueRefreshes: { count: 0, isExact: expect.any(Boolean) },
    pendingWebhooks: { count: 0, isExact: true },
    deadWebhooks: { count: 0, isExact: true },
    waitingWebhooks: { count: 0, isExact: true },
    webhookUrls: [],
  },
  'list-stores': {
    appName: expect.any(String),
    rows: [
      {
        platform: 'processor_a',
        isFailing: false,
        health: 'unused',
        lastHour: { numRequests: 0, numFailures: 0 },
        notificationUrl: expect.any(String),
        lastDay: { numRequests: 0, numFailures: 0 },
      },
    ],
  },
  'get-customer-entitlements': { applicationUsername, entitlements: {}, asOf: expect.any(String) },
  'explain-access': {
    applicationUsername,
    entitlement: 'pro',
    isActive: false,
    because: expect.any(Array),
    next: null,
    asOf: expect.any(String),
  },
  'list-grants': { applicationUsername, rows: [] },
  'get-customer-credits': { applicationUsername, isSandbox: false, credits: {}, asOf: expect.any(String) },
  'list-credit-history': { applicationUsername, rows: [] },
  // The keys of all apps: apps of other tests can have some.
  'get-token-keys': { keys: expect.any(Array) },
  'get-catalogue': {},
  'get-commission-rates': { rates: expect.any(Array) },
  'list-keys': { rows: expect.any(Array) },
  // An empty list is without members.
  'get-forwards': {},
  'get-app': expect.objectContaining({ catalogue: {}, strategy: 'all', vocabulary: 'neutral' }),
  'get-prices': { ok: true, products: [] },
  'get-processor-purchases': { ok: true, purchases: [] },
  'get-version': { ok: true, name: 'claimcheck', version: expect.any(String) },
};

/** Required parameters of the queries. */
const queries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'get-processor-purchases': { applicationUsername },
  'explain-access': { entitlement: 'pro' },
};

const gets = contracts.filter(({ method }) => method === 'GET');

describe('app without data', () => {
  it.each(gets.map((contract) => [contract.id, contract] as const))(
    'gets an empty response from %s',
    async (id, contract) => {
      // Each test has its own app, because a request is recorded as an event.
      const keys = await service.createApp(['processor_a']);
      const response = await callEndpoint(contract, {
        headers: buildBasicAuth(keys.appName, keys.secretKey),
        params: { applicationUsername, appName: keys.appName, tag: 'nothing', platform: 'store_a' },
        query: queries[id] ?? {},
      });
      const { route, ...body } = response.body;
      expect(body).toEqual(answers[id]);
      expect(response.status).toBe(body.status ?? 200);
      if (body.ok === false) expect(route).toBe(contract.path);
    },
  );

  it.each([
    { skip: '999999999', limit: '1000' },
    { startdate: '2020-01-01' },
    { enddate: '2030-01-01T00:00:00Z', include_notifications: 'true' },
    { startdate: '2030-01-01', enddate: '2020-01-01', skip: '7', limit: '7' },
  ])('gets empty lists for %j', async (query) => {
    const { appName, secretKey } = await service.createApp([]);
    for (const contract of [listCustomers, listPurchases, listTransactions]) {
      const { status, body } = await callEndpoint(contract, { headers: buildBasicAuth(appName, secretKey), query });
      expect([status, body.rows, body.paging.total]).toEqual([200, [], 0]);
    }
  });
});
