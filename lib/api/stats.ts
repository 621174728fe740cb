import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';
import { QueryDay } from './paging.ts';
import { CurrencyCode, emptyAsAbsent } from './schemas.ts';

const common = {
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

export const getStats = defineContract({
  ...common,
  id: 'get-stats',
  summary: 'Get revenue, transactions, requests and notifications by day and by month',
  path: '/v3/stats',
  aliases: [],
  query: v.object({
    startdate: emptyAsAbsent(QueryDay),
    enddate: emptyAsAbsent(QueryDay),
    include_notifications: v.optional(v.string()),
    currency: emptyAsAbsent(CurrencyCode),
  }),
  response: v.strictObject({ dailyStats: v.array(DailyStat), monthlyStats: v.array(MonthlyStat) }),
  isLongRunning: true,
  permissions: [],
});

export const getStatsV2 = defineContract({
  ...common,
  id: 'get-stats-v2',
  summary: 'Get revenue and transactions by day',
  path: '/v2/stats',
  aliases: [],
  query: v.object({ startdate: emptyAsAbsent(QueryDay), enddate: emptyAsAbsent(QueryDay) }),
  response: v.strictObject({
    dailyStats: v.array(
      v.strictObject({
        /** `YYYYMMDD`. */
        date: v.string(),
        amountUSD: v.number(),
        numTransactions: v.number(),
        monthlyRevenueUSD: v.number(),
        monthlyTransactions: v.number(),
      }),
    ),
    monthlyStats: v.strictObject({ amountUSD: v.number(), numTransactions: v.number() }),
  }),
  isLongRunning: true,
  permissions: [],
});

export const getAppStats = defineContract({
  ...common,
  id: 'get-app-stats',
  summary: 'Get transactions and requests of this month and the last month; deprecated',
  path: '/v3/apps/:appName/stats',
  aliases: [],
  params: v.object({ appName: Id }),
  response: v.strictObject({
    monthlyQuota: v.number(),
    thisMonth: v.number(),
    lastMonth: v.number(),
    reqThisMonth: v.number(),
    reqLastMonth: v.number(),
  }),
  permissions: [],
});
