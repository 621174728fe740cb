import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { describeObject, describeOperation, describeValue } from '../api/describe.ts';
import { EntitlementName, Id } from '../api/identifiers.ts';
import { PagingInformation, pagingQuery, QueryDay } from '../api/paging.ts';
import { dayRange, includeNotifications, pagingParameters, sandboxOnly } from '../api/parameters.ts';
import { CurrencyCode, emptyAsAbsent, QueryFlag } from '../api/schemas.ts';
import { Platform } from '../foundation/platform.ts';

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

const Stats = v.strictObject({ dailyStats: v.array(DailyStat), monthlyStats: v.array(MonthlyStat) });

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
  response: Stats,
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
const StartedTrials = v.strictObject({ converted: v.number(), ended: v.number() });

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

const StatsBreakdown = v.strictObject({
  interval: StatsInterval,
  by: StatsDimension,
  groups: v.array(BreakdownGroup),
  /** The page of products, with `by=product`. `limit` can be less than requested. */
  products: v.exactOptional(PagingInformation),
});

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
  response: StatsBreakdown,
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
  ...common,
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
  ...common,
  id: 'get-app-stats',
  summary: 'Get transactions and requests of this month and the last month; deprecated',
  path: '/v3/apps/:appName/stats',
  aliases: [],
  params: v.object({ appName: Id }),
  response: AppStats,
  permissions: [],
});

const figureCommon = {
  ...common,
  aliases: [],
  isLongRunning: true,
  permissions: [],
} as const;

/** Dimension of figures. */
export const FiguresDimension = v.picklist(['none', 'platform', 'product', 'country', 'entitlement']);
export type FiguresDimension = v.InferOutput<typeof FiguresDimension>;

/** Amounts of figures: before refunds, after refunds, or after refunds, commission and tax. */
export const FiguresAmount = v.picklist(['before_refunds', 'after_refunds', 'proceeds']);
export type FiguresAmount = v.InferOutput<typeof FiguresAmount>;

/**
 * Source of proceeds: reported by the store, computed with a table of rates, or both. `estimated` is `table` without
 * the tax of a payment.
 */
export const ProceedsSource = v.picklist(['store', 'table', 'estimated', 'mixed']);
export type ProceedsSource = v.InferOutput<typeof ProceedsSource>;

/** Length of the intervals in which cohorts start. Weeks start on Monday. */
export const CohortInterval = v.picklist(['week', 'month']);
export type CohortInterval = v.InferOutput<typeof CohortInterval>;

const query = {
  startdate: emptyAsAbsent(QueryDay),
  enddate: emptyAsAbsent(QueryDay),
  by: emptyAsAbsent(FiguresDimension),
  amount: emptyAsAbsent(FiguresAmount),
  sandbox: QueryFlag,
  ...pagingQuery,
};
const intervalQuery = v.object({ ...query, interval: emptyAsAbsent(StatsInterval) });
const cohortQuery = v.object({ ...query, interval: emptyAsAbsent(CohortInterval) });

const head = {
  by: FiguresDimension,
  amount: FiguresAmount,
  /** Present with `amount=proceeds`, unless there are no payments. */
  proceedsSource: v.exactOptional(ProceedsSource),
  /** Part of the payments whose currency has no rate: the amounts in US dollars lack them. */
  unconvertedShare: v.number(),
  /** The page of products, with `by=product`. `limit` can be less than requested. */
  products: v.exactOptional(PagingInformation),
};

/** Value of the dimension. */
const segment = {
  platform: v.exactOptional(Platform),
  productId: v.exactOptional(v.string()),
  /** ISO 3166-1 code of two letters. `ZZ` if the store does not report the country. */
  country: v.exactOptional(v.string()),
  entitlement: v.exactOptional(EntitlementName),
  unconvertedShare: v.number(),
};

/** Changes of the monthly recurring revenue in an interval, in US dollars. All are positive. */
const MrrMovement = v.strictObject({
  new: v.number(),
  expansion: v.number(),
  contraction: v.number(),
  churned: v.number(),
  reactivated: v.number(),
});

export const MrrRow = v.strictObject({
  /** First day of the interval within the range (`YYYY-MM-DD`). */
  date: v.string(),
  /** At the end of the interval, or now. */
  mrrUSD: v.number(),
  arrUSD: v.number(),
  movement: MrrMovement,
  /** Part of the paying subscriptions at the end of the interval whose currency has no rate. */
  unconvertedShare: v.number(),
});
export type MrrRow = v.InferOutput<typeof MrrRow>;
const MrrGroup = v.strictObject({ ...segment, rows: v.array(MrrRow) });

const Mrr = v.strictObject({
  interval: StatsInterval,
  ...head,
  rows: v.array(MrrRow),
  /** One group for each value of the dimension. Absent with `by=none`. */
  groups: v.exactOptional(v.array(MrrGroup)),
});

export const getMrr = defineContract({
  ...figureCommon,
  id: 'get-mrr',
  summary: 'Get monthly and annual recurring revenue, and its movement',
  path: '/v3/stats/mrr',
  query: intervalQuery,
  response: Mrr,
});

export const ChurnRow = v.strictObject({
  date: v.string(),
  /** Paying subscriptions at the start of the interval. */
  activeAtStart: v.number(),
  churned: v.number(),
  /** `churned` divided by `activeAtStart`; 0 without active subscriptions. */
  churnRate: v.number(),
  churnedMrrUSD: v.number(),
  revenueChurnRate: v.number(),
  voluntary: v.number(),
  /** Subscriptions whose payment failed. */
  involuntary: v.number(),
  /** Part of the paying subscriptions at the start of the interval whose currency has no rate. */
  unconvertedShare: v.number(),
});
export type ChurnRow = v.InferOutput<typeof ChurnRow>;
const ChurnGroup = v.strictObject({ ...segment, rows: v.array(ChurnRow) });

const Churn = v.strictObject({
  interval: StatsInterval,
  ...head,
  rows: v.array(ChurnRow),
  groups: v.exactOptional(v.array(ChurnGroup)),
});

export const getChurn = defineContract({
  ...figureCommon,
  id: 'get-churn',
  summary: 'Get churn of subscriptions and of recurring revenue',
  path: '/v3/stats/churn',
  query: intervalQuery,
  response: Churn,
});

const RetentionPeriod = v.strictObject({
  /** Periods since the first payment. */
  index: v.number(),
  active: v.number(),
  /** `active` divided by the size of the cohort. */
  rate: v.number(),
  revenueUSD: v.number(),
});
export const RetentionCohort = v.strictObject({
  start: v.string(),
  size: v.number(),
  /** Number of periods that are complete for all subscriptions of the cohort. Later ones still change. */
  completePeriods: v.number(),
  periods: v.array(RetentionPeriod),
});
export type RetentionCohort = v.InferOutput<typeof RetentionCohort>;
const RetentionGroup = v.strictObject({ ...segment, cohorts: v.array(RetentionCohort) });

const Retention = v.strictObject({
  interval: CohortInterval,
  ...head,
  cohorts: v.array(RetentionCohort),
  groups: v.exactOptional(v.array(RetentionGroup)),
});

export const getRetention = defineContract({
  ...figureCommon,
  id: 'get-retention',
  summary: 'Get the retention of subscriptions and their revenue by cohort',
  path: '/v3/stats/retention',
  query: cohortQuery,
  response: Retention,
});

const LtvAge = v.strictObject({
  /** Months since the customers are known. */
  month: v.number(),
  revenuePerCustomerUSD: v.number(),
  revenuePerPayerUSD: v.number(),
});
export const LtvCohort = v.strictObject({
  start: v.string(),
  customers: v.number(),
  payers: v.number(),
  ages: v.array(LtvAge),
});
export type LtvCohort = v.InferOutput<typeof LtvCohort>;
const LtvGroup = v.strictObject({ ...segment, cohorts: v.array(LtvCohort) });

const Ltv = v.strictObject({
  interval: CohortInterval,
  ...head,
  cohorts: v.array(LtvCohort),
  groups: v.exactOptional(v.array(LtvGroup)),
});

export const getLtv = defineContract({
  ...figureCommon,
  id: 'get-ltv',
  summary: 'Get the realized revenue per customer by cohort and age',
  path: '/v3/stats/ltv',
  query: cohortQuery,
  response: Ltv,
});

export const ConversionCohort = v.strictObject({
  start: v.string(),
  /** Trials that started in the interval. */
  trials: v.number(),
  /** Trials that a payment followed. A payment that is refunded in full does not count. */
  converted: v.number(),
  conversionRate: v.number(),
  /** Customers who were first seen in the interval. */
  customers: v.number(),
  /** Customers who have paid. */
  payers: v.number(),
  payerRate: v.number(),
});
export type ConversionCohort = v.InferOutput<typeof ConversionCohort>;
const ConversionGroup = v.strictObject({ ...segment, cohorts: v.array(ConversionCohort) });

const Conversion = v.strictObject({
  interval: CohortInterval,
  ...head,
  cohorts: v.array(ConversionCohort),
  groups: v.exactOptional(v.array(ConversionGroup)),
});

export const getConversion = defineContract({
  ...figureCommon,
  id: 'get-conversion',
  summary: 'Get the conversion of trials and customers to payers by start cohort',
  path: '/v3/stats/conversion',
  query: cohortQuery,
  response: Conversion,
});

const headFields = {
  by: ['The dimension.'],
  amount: ['The amounts.'],
  proceedsSource: ['Source of the proceeds. Present with `amount=proceeds`, unless there are no payments.'],
  unconvertedShare: [
    'Part of the payments whose currency has no exchange rate. Amounts in US dollars lack them.',
    0.02,
    'decimal',
  ],
  products: ['The page of products. Present with `by=product`; `limit` can be less than requested.'],
  groups: ['One group for each value of the dimension. Absent with `by=none`.'],
} as const;

const segmentFields = {
  platform: ['The platform. Present with `by=platform` and `by=product`.'],
  productId: ['The product with its platform prefix. Present with `by=product`.', 'store_a:premium'],
  country: ['ISO 3166-1 code of two letters; `ZZ` if unknown. Present with `by=country`.', 'DE'],
  entitlement: ['The entitlement. Present with `by=entitlement`.', 'premium'],
  unconvertedShare: ['Part of the payments whose currency has no exchange rate.', 0.02, 'decimal'],
} as const;

const dateField = ['First day of the interval within the range, `YYYY-MM-DD`.', '2026-01-01'] as const;
const startField = ['First day of the cohort, `YYYY-MM-DD`.', '2026-01-01'] as const;
const customerFields = {
  customers: ['Customers who were first seen in the interval.', 400],
  payers: ['Customers who have paid.', 50],
} as const;

const figureParameters = {
  ...dayRange,
  ...pagingParameters,
  by: ['Dimension of the groups. The default is `none`.', 'product'],
  amount: ['Amounts of the figures. The default is `after_refunds`.', 'after_refunds'],
  sandbox: sandboxOnly,
} as const;
const intervalParameter = {
  interval: ['Length of the intervals. The default is `month`.', 'month'],
} as const;
const cohortParameter = { interval: ['Interval in which a cohort starts. The default is `month`.', 'month'] } as const;
const figureRange = 'The default range is the last 12 months. The guide "Figures" has the definitions.';

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

const defaultRange = 'The default is the last 31 days and 12 months. A range has at most 3,660 days.';

export const statsDescriptions = [
  describeValue('FiguresDimension', FiguresDimension, 'Dimension of figures.', 'product'),
  describeValue(
    'FiguresAmount',
    FiguresAmount,
    'Amounts of figures. `proceeds` are after refunds, and after commission and tax of the store.',
    'after_refunds',
  ),
  describeValue(
    'ProceedsSource',
    ProceedsSource,
    'Source of proceeds: reported by the store, computed with a table of rates (`estimated` if the tax of a payment is unknown), or both.',
    'table',
  ),
  describeValue('CohortInterval', CohortInterval, 'Interval in which a cohort starts. Weeks start on Monday.', 'month'),
  describeObject('MrrMovement', MrrMovement, 'Changes of the monthly recurring revenue. All are positive.', {
    new: ['Subscriptions that paid for the first time, in US dollars.', 120.5, 'decimal'],
    expansion: ['Increases of paying subscriptions, in US dollars.', 12.25, 'decimal'],
    contraction: ['Decreases of paying subscriptions, in US dollars.', 4.5, 'decimal'],
    churned: ['Subscriptions that ended, in US dollars.', 30.25, 'decimal'],
    reactivated: ['Subscriptions that paid again after their end, in US dollars.', 9.75, 'decimal'],
  }),
  describeObject('MrrRow', MrrRow, 'Recurring revenue of an interval.', {
    date: dateField,
    mrrUSD: ['Monthly recurring revenue at the end of the interval, or now, in US dollars.', 1520.4, 'decimal'],
    arrUSD: ['Annual recurring revenue: twelve times the monthly one.', 18244.8, 'decimal'],
    movement: ['Changes in the interval.'],
    unconvertedShare: ['Part of the paying subscriptions whose currency has no exchange rate.', 0.02, 'decimal'],
  }),
  describeObject('MrrGroup', MrrGroup, 'Recurring revenue of one value of the dimension.', {
    ...segmentFields,
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('Mrr', Mrr, 'Recurring revenue by interval.', {
    ...headFields,
    interval: ['Length of the intervals.'],
    rows: ['One row for each interval of the range that has started, earliest first.'],
  }),
  describeObject('ChurnRow', ChurnRow, 'Churn of an interval.', {
    date: dateField,
    activeAtStart: ['Paying subscriptions at the start of the interval.', 200],
    churned: ['Subscriptions that ended in the interval.', 10],
    churnRate: ['`churned` divided by `activeAtStart`.', 0.05, 'decimal'],
    churnedMrrUSD: ['Monthly recurring revenue of the subscriptions that ended.', 99.9, 'decimal'],
    revenueChurnRate: ['`churnedMrrUSD` divided by the recurring revenue at the start.', 0.065, 'decimal'],
    voluntary: ['Ended subscriptions without a failed payment.', 8],
    involuntary: ['Ended subscriptions whose payment failed.', 2],
    unconvertedShare: ['Part of the paying subscriptions whose currency has no exchange rate.', 0.02, 'decimal'],
  }),
  describeObject('ChurnGroup', ChurnGroup, 'Churn of one value of the dimension.', {
    ...segmentFields,
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('Churn', Churn, 'Churn by interval.', {
    ...headFields,
    interval: ['Length of the intervals.'],
    rows: ['One row for each interval of the range that has started, earliest first.'],
  }),
  describeObject('RetentionPeriod', RetentionPeriod, 'A period of a cohort.', {
    index: ['Weeks or months since the first payment.', 1],
    active: ['Subscriptions that are paid in the middle of the period. For index 0: the size of the cohort.', 80],
    rate: ['`active` divided by `size`.', 0.8, 'decimal'],
    revenueUSD: ['Payments in the period, in US dollars.', 799.2, 'decimal'],
  }),
  describeObject('RetentionCohort', RetentionCohort, 'Subscriptions with their first payment in the same interval.', {
    start: startField,
    size: ['Number of subscriptions.', 100],
    completePeriods: ['Number of periods that are complete for the whole cohort. Later ones still change.', 2],
    periods: ['The periods that have started, earliest first.'],
  }),
  describeObject('RetentionGroup', RetentionGroup, 'Retention of one value of the dimension.', {
    ...segmentFields,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Retention', Retention, 'Retention by cohort.', {
    ...headFields,
    interval: ['Interval in which the cohorts start, and length of their periods.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
  describeObject('LtvAge', LtvAge, 'Revenue of a cohort up to an age.', {
    month: ['Months since the customers were first seen.', 3],
    revenuePerCustomerUSD: ['Payments up to the end of the month, divided by all customers.', 4.2, 'decimal'],
    revenuePerPayerUSD: ['The same payments divided by the customers who have paid.', 33.6, 'decimal'],
  }),
  describeObject('LtvCohort', LtvCohort, 'Customers who were first seen in the same interval.', {
    start: startField,
    ...customerFields,
    ages: ['The months that have started, earliest first.'],
  }),
  describeObject('LtvGroup', LtvGroup, 'Realized revenue of one value of the dimension.', {
    ...segmentFields,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Ltv', Ltv, 'Realized revenue per customer by cohort.', {
    ...headFields,
    interval: ['Interval in which the cohorts start.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
  describeObject('ConversionCohort', ConversionCohort, 'Trials and customers that started in the same interval.', {
    start: startField,
    trials: ['Trials that started in the interval.', 40],
    converted: ['Trials that a payment followed, without payments that are refunded in full.', 12],
    conversionRate: ['`converted` divided by `trials`.', 0.3, 'decimal'],
    ...customerFields,
    payerRate: ['`payers` divided by `customers`.', 0.125, 'decimal'],
  }),
  describeObject('ConversionGroup', ConversionGroup, 'Conversion of one value of the dimension.', {
    ...segmentFields,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Conversion', Conversion, 'Conversion by cohort.', {
    ...headFields,
    interval: ['Interval in which the cohorts start.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
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
  describeObject('Stats', Stats, 'Statistics by day and by month.', {
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
  describeObject('StatsBreakdown', StatsBreakdown, 'Statistics by interval and dimension.', {
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
  describeValue(
    'StatsInterval',
    StatsInterval,
    'Length of an interval. Weeks start on Monday. `range` is the whole range of the query.',
    'month',
  ),
  describeValue('StatsDimension', StatsDimension, 'Dimension of the breakdown.', 'platform'),
];

export const statsOperations = [
  describeOperation(getMrr, {
    description: `Returns monthly and annual recurring revenue with its movement. ${figureRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
  describeOperation(getChurn, {
    description: `Returns the churn of subscriptions and of recurring revenue. ${figureRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
  describeOperation(getRetention, {
    description: `Returns the retention of subscriptions by week or month of their first payment. ${figureRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
  describeOperation(getLtv, {
    description: `Returns the realized revenue per customer by cohort and age. ${figureRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
  describeOperation(getConversion, {
    description: `Returns the conversion of trials to paid subscriptions, and of customers to payers. ${figureRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
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
