import { describeObject, describeOperation } from '../describe.ts';
import { dayRange, includeNotifications, pagingParameters, sandboxOnly } from '../parameters.ts';
import {
  BreakdownGroup,
  BreakdownRow,
  DailyStat,
  DailyStatV2,
  getAppStats,
  getStats,
  getStatsBreakdown,
  getStatsV2,
  MonthlyStat,
  MonthlyStatV2,
  StartedTrials,
} from '../stats.ts';

const amountFields = {
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

const countFields = {
  ...amountFields,
  numRequests: ['Number of requests.', 4321],
  notifications: [
    'Number by lifecycle reason. Only present with `include_notifications=true`.',
    { PURCHASED: 20, RENEWED: 80 },
  ],
} as const;

export const statsDescriptions = [
  describeObject('DailyStat', DailyStat, 'Sums of a day (UTC), and of the month that ends with it.', {
    ...countFields,
    date: ['The day, `YYYY-MM-DD`.', '2026-01-15'],
    monthlyRevenueUSD: ['Revenue in US dollars since the same day of the previous month.', 15230.4, 'decimal'],
    monthlyTransactions: ['Number of transactions since the same day of the previous month.', 3400],
    monthlyPaidTransactions: ['Number of transactions with an amount since the same day of the previous month.', 2900],
  }),
  describeObject('MonthlyStat', MonthlyStat, 'Sums of a month (UTC).', {
    ...countFields,
    date: ['The month, `YYYY-MM`.', '2026-01'],
  }),
  describeObject('Stats', getStats.response, 'Statistics by day and by month.', {
    dailyStats: ['One row for each day of the range, earliest first.'],
    monthlyStats: ['One row for each month of the range, earliest first.'],
  }),
  describeObject(
    'StartedTrials',
    StartedTrials,
    'Outcome of the trials that started in an interval. The rest is still running.',
    {
      converted: ['Number that was converted to a paid subscription.', 12],
      ended: ['Number that ended without a paid period.', 7],
    },
  ),
  describeObject('BreakdownRow', BreakdownRow, 'Sums of an interval.', {
    ...amountFields,
    date: ['First day of the interval within the range, `YYYY-MM-DD`.', '2026-01-01'],
    enddate: ['Last day of the interval within the range, `YYYY-MM-DD`.', '2026-01-31'],
    notifications: [
      'Number by lifecycle reason, sandbox and one-time purchases included.',
      { PURCHASED: 20, RENEWED: 80 },
    ],
    subscriptionNotifications: [
      'Number by lifecycle reason of subscriptions outside the sandbox.',
      { PURCHASED: 12, RENEWED: 75 },
    ],
    activeSubscriptions: ['Subscriptions that are active at the end of the interval, trials included.', 900],
    activeTrials: ['Free trials among the active subscriptions.', 40],
    unverifiedSubscriptions: ['Active subscriptions whose renewal the store has not reported yet. 0 for past days.', 0],
    trialsStarted: ['Trials that started in the interval.', 30],
    trialsConverted: ['Trials whose first paid period starts in the interval.', 12],
    trialsEnded: ['Trials that ended in the interval without a paid period.', 7],
    startedTrials: ['Outcome of the trials that started in the interval.'],
  }),
  describeObject('BreakdownGroup', BreakdownGroup, 'Intervals of the app, a platform or a product.', {
    platform: ['The platform. Present with `by=platform` and `by=product`.'],
    productId: ['The product with its platform prefix. Present with `by=product`.', 'store_a:premium'],
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('StatsBreakdown', getStatsBreakdown.response, 'Statistics by interval and dimension.', {
    interval: ['Length of the intervals.'],
    by: ['The dimension.'],
    groups: ['One group for each value of the dimension.'],
    products: ['The page of products. Present with `by=product`; `limit` can be less than requested.'],
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
  describeObject('StatsV2', getStatsV2.response, 'Statistics by day.', {
    dailyStats: ['One row for each day of the range, earliest first.'],
    monthlyStats: ['Sums of the latest month.'],
  }),
  describeObject('AppStats', getAppStats.response, 'Transactions and requests of two calendar months.', {
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

const defaultRange = 'The default is the last 31 days and 12 months. A range has at most 3,660 days.';

export const statsOperations = [
  describeOperation(getStats, {
    description: `Returns revenue, transactions, requests and notifications by day and by month. ${defaultRange}`,
    query: {
      ...dayRange,
      include_notifications: includeNotifications,
      currency: ['Selects the amounts of a currency (ISO 4217 code).', 'EUR'],
      sandbox: sandboxOnly,
    },
  }),
  describeOperation(getStatsBreakdown, {
    description:
      'Returns revenue, lifecycle, active subscriptions and trials by interval, for the whole app or by platform or product.',
    query: {
      ...dayRange,
      ...pagingParameters,
      interval: ['Length of the intervals.', 'month'],
      by: ['Dimension of the breakdown.', 'platform'],
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
