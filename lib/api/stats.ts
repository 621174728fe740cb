import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';
import { PagingInformation, pagingQuery, QueryDay } from './paging.ts';
import { CurrencyCode, emptyAsAbsent, QueryFlag } from './schemas.ts';

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
  // Spec: not shown. Part of the paid transactions whose currency has no rate. Absent without any.
  unconvertedShare: v.exactOptional(v.number()),
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
    // Spec: not shown. `true` counts sandbox purchases only.
    sandbox: QueryFlag,
  }),
  response: v.strictObject({ dailyStats: v.array(DailyStat), monthlyStats: v.array(MonthlyStat) }),
  isLongRunning: true,
  permissions: [],
});

/** Length of an interval of the breakdown. Weeks start on Monday, `range` is the whole range of the query. */
export const StatsInterval = v.picklist(['day', 'week', 'month', 'range']);
export type StatsInterval = v.InferOutput<typeof StatsInterval>;

/** Dimension of the breakdown. */
export const StatsDimension = v.picklist(['none', 'platform', 'product']);
export type StatsDimension = v.InferOutput<typeof StatsDimension>;

/** Outcome of the trials that started in an interval. The rest is still running. */
export const StartedTrials = v.strictObject({ converted: v.number(), ended: v.number() });

/** The sums of an interval. */
export const BreakdownRow = v.strictObject({
  /** First day of the interval within the range (`YYYY-MM-DD`). */
  date: v.string(),
  /** Last day of the interval within the range. */
  enddate: v.string(),
  amountUSD: v.number(),
  /** In micros, by currency. */
  amountMicros: v.record(v.string(), v.number()),
  numTransactions: v.number(),
  numPaidTransactions: v.number(),
  /** Part of the paid transactions whose currency has no rate: `amountUSD` lacks them. */
  unconvertedShare: v.number(),
  /** Number by lifecycle reason, sandbox and one-time purchases included. */
  notifications: v.record(v.string(), v.number()),
  /** Number by lifecycle reason of subscriptions outside the sandbox. */
  subscriptionNotifications: v.record(v.string(), v.number()),
  /** Subscriptions that are active at the end of the interval, or now if it has not ended. Includes trials. */
  activeSubscriptions: v.number(),
  /** The free trials among the active subscriptions. */
  activeTrials: v.number(),
  /** The active subscriptions whose renewal the store has not reported yet. 0 for past days. */
  unverifiedSubscriptions: v.number(),
  trialsStarted: v.number(),
  /** Trials whose first paid period starts in the interval. */
  trialsConverted: v.number(),
  /** Trials that end in the interval without a paid period. */
  trialsEnded: v.number(),
  startedTrials: StartedTrials,
});
export type BreakdownRow = v.InferOutput<typeof BreakdownRow>;

/** The intervals of the app, a platform or a product. */
export const BreakdownGroup = v.strictObject({
  /** Present with `by=platform` and `by=product`. */
  platform: v.exactOptional(Platform),
  /** Present with `by=product`. */
  productId: v.exactOptional(v.string()),
  /** One for each interval of the range, earliest first. */
  rows: v.array(BreakdownRow),
});
export type BreakdownGroup = v.InferOutput<typeof BreakdownGroup>;

export const getStatsBreakdown = defineContract({
  ...common,
  id: 'get-stats-breakdown',
  summary: 'Get revenue, lifecycle, active subscriptions and trials by day, week or month, by platform or product',
  path: '/v3/stats/breakdown',
  aliases: [],
  query: v.object({
    startdate: emptyAsAbsent(QueryDay),
    enddate: emptyAsAbsent(QueryDay),
    interval: emptyAsAbsent(StatsInterval),
    by: emptyAsAbsent(StatsDimension),
    sandbox: QueryFlag,
    ...pagingQuery,
  }),
  response: v.strictObject({
    interval: StatsInterval,
    by: StatsDimension,
    groups: v.array(BreakdownGroup),
    /** The page of products, with `by=product`. `limit` can be less than requested. */
    products: v.exactOptional(PagingInformation),
  }),
  isLongRunning: true,
  permissions: [],
});

export const DailyStatV2 = v.strictObject({
  /** `YYYYMMDD`. */
  date: v.string(),
  amountUSD: v.number(),
  numTransactions: v.number(),
  monthlyRevenueUSD: v.number(),
  monthlyTransactions: v.number(),
});

export const MonthlyStatV2 = v.strictObject({ amountUSD: v.number(), numTransactions: v.number() });

export const getStatsV2 = defineContract({
  ...common,
  id: 'get-stats-v2',
  summary: 'Get revenue and transactions by day',
  path: '/v2/stats',
  aliases: [],
  query: v.object({ startdate: emptyAsAbsent(QueryDay), enddate: emptyAsAbsent(QueryDay) }),
  response: v.strictObject({
    dailyStats: v.array(DailyStatV2),
    monthlyStats: MonthlyStatV2,
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
