import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  dayRange,
  describeObject,
  describeOperation,
  includeNotifications,
  sandboxOnly,
} from '../api/describe.ts';
import { QueryDay } from '../api/paging.ts';
import { CurrencyCode, emptyAsAbsent, Id, OptionalNumber, QueryFlag } from '../api/schemas.ts';

export const statsCommon = {
  area: 'stats',
  method: 'GET',
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'stats.read',
} as const;

const Notifications = v.exactOptional(v.record(v.string(), v.number()));
const counts = {
  amountUSD: v.number(),
  /** In micros, by currency. */
  amountMicros: v.record(v.string(), v.number()),
  numRequests: v.number(),
  numTransactions: v.number(),
  numPaidTransactions: v.number(),
  // Spec: not shown. Part of the paid transactions whose currency lacks a rate. Absent without any.
  unconvertedShare: OptionalNumber,
  notifications: Notifications,
};

export const DailyStat = v.strictObject({
  date: v.string(),
  ...counts,
  monthlyRevenueUSD: v.number(),
  monthlyTransactions: v.number(),
  monthlyPaidTransactions: v.number(),
});
export type DailyStat = v.InferOutput<typeof DailyStat>;

export const MonthlyStat = v.strictObject({ date: v.string(), ...counts });
export type MonthlyStat = v.InferOutput<typeof MonthlyStat>;

const Stats = v.strictObject({ dailyStats: v.array(DailyStat), monthlyStats: v.array(MonthlyStat) });

export const getStats = defineContract({
  ...statsCommon,
  id: 'get-stats',
  summary: 'Get revenue, transactions and requests by day and by month',
  path: '/v3/stats',
  aliases: [],
  query: v.object({
    startdate: emptyAsAbsent(QueryDay),
    enddate: emptyAsAbsent(QueryDay),
    include_notifications: v.optional(v.string()),
    currency: emptyAsAbsent(CurrencyCode),
    // Spec: not shown. `true` counts sandbox purchases only.
    sandbox: QueryFlag,
  }),
  response: Stats,
  isLongRunning: true,
  permissions: [],
});

const DailyStatV2 = v.strictObject({
  /** `YYYYMMDD`. */
  date: v.string(),
  amountUSD: v.number(),
  numTransactions: v.number(),
  monthlyRevenueUSD: v.number(),
  monthlyTransactions: v.number(),
});

const MonthlyStatV2 = v.strictObject({ amountUSD: v.number(), numTransactions: v.number() });

const StatsV2 = v.strictObject({
  dailyStats: v.array(DailyStatV2),
  monthlyStats: MonthlyStatV2,
});

export const getStatsV2 = defineContract({
  ...statsCommon,
  id: 'get-stats-v2',
  summary: 'Get revenue and transactions by day',
  path: '/v2/stats',
  aliases: [],
  query: v.object({ startdate: emptyAsAbsent(QueryDay), enddate: emptyAsAbsent(QueryDay) }),
  response: StatsV2,
  isLongRunning: true,
  permissions: [],
});

const AppStats = v.strictObject({
  monthlyQuota: v.number(),
  thisMonth: v.number(),
  lastMonth: v.number(),
  reqThisMonth: v.number(),
  reqLastMonth: v.number(),
});

export const getAppStats = defineContract({
  ...statsCommon,
  id: 'get-app-stats',
  summary: 'Get transactions and requests of two months; deprecated',
  path: '/v3/apps/:appName/stats',
  aliases: [],
  params: v.object({ appName: Id }),
  response: AppStats,
  permissions: [],
});

export const countedUntilText = [
  'Everything that was stored until then is counted. Up to about a minute ago unless the statistics are late.',
  '2026-01-15T09:30:00.000Z',
] as const;

export const amountTexts = {
  amountUSD: ['Revenue in US dollars.', 542.1, 'decimal'],
  amountMicros: ['Revenue in millionths by ISO 4217 code.', { EUR: 499000000 }],
  numTransactions: ['Number of transactions.', 120],
  numPaidTransactions: ['Number of transactions with an amount.', 100],
  unconvertedShare: [
    'Part of the paid transactions whose currency has no exchange rate: `amountUSD` lacks them.',
    0.02,
    'decimal',
  ],
} as const;

const countTexts = {
  ...amountTexts,
  numRequests: ['Number of requests.', 4321],
  notifications: [
    'Number by lifecycle reason. Only present with `include_notifications=true`.',
    { PURCHASED: 20, RENEWED: 80 },
  ],
} as const;

const defaultRange = 'The default is the last 31 days and 12 months. A range has at most 3,660 days.';

const descriptions = [
  describeObject('DailyStat', DailyStat, 'Sums of a day (UTC), and of the month that ends with it.', {
    ...countTexts,
    date: ['The day, `YYYY-MM-DD`.', '2026-01-15'],
    monthlyRevenueUSD: ['Revenue in US dollars since the same day of the previous month.', 15230.4, 'decimal'],
    monthlyTransactions: ['Number of transactions since the same day of the previous month.', 3400],
    monthlyPaidTransactions: ['Number of transactions with an amount since the same day of the previous month.', 2900],
  }),
  describeObject('MonthlyStat', MonthlyStat, 'Sums of a month (UTC).', {
    ...countTexts,
    date: ['The month, `YYYY-MM`.', '2026-01'],
  }),
  describeObject('Stats', Stats, 'Statistics by day and by month.', {
    dailyStats: ['One row for each day of the range, earliest first.'],
    monthlyStats: ['One row for each month of the range, earliest first.'],
  }),
  describeObject('DailyStatV2', DailyStatV2, 'Sums of a day (UTC), and of the month that ends with it.', {
    date: ['The day, `YYYYMMDD`.', '20260115'],
    amountUSD: ['Revenue in US dollars.', 542.1, 'decimal'],
    numTransactions: ['Number of transactions.', 120],
    monthlyRevenueUSD: ['Revenue in US dollars since the same day of the previous month.', 15230.4, 'decimal'],
    monthlyTransactions: ['Number of transactions since the same day of the previous month.', 3400],
  }),
  describeObject('MonthlyStatV2', MonthlyStatV2, 'Sums of the latest month.', {
    amountUSD: ['Revenue in US dollars.', 15230.4, 'decimal'],
    numTransactions: ['Number of transactions.', 3400],
  }),
  describeObject('StatsV2', StatsV2, 'Statistics by day.', {
    dailyStats: ['One row for each day of the range, earliest first.'],
    monthlyStats: ['Sums of the latest month.'],
  }),
  describeObject('AppStats', AppStats, 'Transactions and requests of two calendar months.', {
    monthlyQuota: [
      'Quota of transactions in a month. The service has none and returns the largest safe integer.',
      9007199254740991,
    ],
    thisMonth: ['Transactions of the current month.', 3400],
    lastMonth: ['Transactions of the previous month.', 3100],
    reqThisMonth: ['Requests of the current month.', 120000],
    reqLastMonth: ['Requests of the previous month.', 110000],
  }),
];

const operations = [
  describeOperation(getStats, {
    description: `Returns revenue, transactions, requests and notifications by day and by month. ${defaultRange}`,
    query: {
      ...dayRange,
      include_notifications: includeNotifications,
      currency: ['Selects the amounts of a currency (ISO 4217 code).', 'EUR'],
      sandbox: sandboxOnly,
    },
  }),
  describeOperation(getStatsV2, {
    description: 'Returns revenue and transactions by day, in the format of version 2. `GET /v3/stats` has more.',
    query: dayRange,
  }),
  describeOperation(getAppStats, {
    description: 'Returns the transactions and requests of the current and the previous month. Use `GET /v3/stats`.',
    params: { appName: ['Name of the app of the key.', 'demo'] },
    isDeprecated: true,
  }),
];

export const statsApi: ApiPart = { descriptions, operations };
