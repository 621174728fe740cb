import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { defineContract } from './contract.ts';
import { EntitlementName } from './identifiers.ts';
import { PagingInformation, pagingQuery, QueryDay } from './paging.ts';
import { emptyAsAbsent, QueryFlag } from './schemas.ts';
import { StatsInterval } from './stats.ts';

const common = {
  area: 'stats',
  method: 'GET',
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'stats.read',
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
export const MrrMovement = v.strictObject({
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
export const MrrGroup = v.strictObject({ ...segment, rows: v.array(MrrRow) });

export const getMrr = defineContract({
  ...common,
  id: 'get-mrr',
  summary: 'Get monthly and annual recurring revenue, and its movement',
  path: '/v3/stats/mrr',
  query: intervalQuery,
  response: v.strictObject({
    interval: StatsInterval,
    ...head,
    rows: v.array(MrrRow),
    /** One group for each value of the dimension. Absent with `by=none`. */
    groups: v.exactOptional(v.array(MrrGroup)),
  }),
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
export const ChurnGroup = v.strictObject({ ...segment, rows: v.array(ChurnRow) });

export const getChurn = defineContract({
  ...common,
  id: 'get-churn',
  summary: 'Get churn of subscriptions and of recurring revenue',
  path: '/v3/stats/churn',
  query: intervalQuery,
  response: v.strictObject({
    interval: StatsInterval,
    ...head,
    rows: v.array(ChurnRow),
    groups: v.exactOptional(v.array(ChurnGroup)),
  }),
});

export const RetentionPeriod = v.strictObject({
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
export const RetentionGroup = v.strictObject({ ...segment, cohorts: v.array(RetentionCohort) });

export const getRetention = defineContract({
  ...common,
  id: 'get-retention',
  summary: 'Get the retention of subscriptions and their revenue by cohort',
  path: '/v3/stats/retention',
  query: cohortQuery,
  response: v.strictObject({
    interval: CohortInterval,
    ...head,
    cohorts: v.array(RetentionCohort),
    groups: v.exactOptional(v.array(RetentionGroup)),
  }),
});

export const LtvAge = v.strictObject({
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
export const LtvGroup = v.strictObject({ ...segment, cohorts: v.array(LtvCohort) });

export const getLtv = defineContract({
  ...common,
  id: 'get-ltv',
  summary: 'Get the realized revenue per customer by cohort and age',
  path: '/v3/stats/ltv',
  query: cohortQuery,
  response: v.strictObject({
    interval: CohortInterval,
    ...head,
    cohorts: v.array(LtvCohort),
    groups: v.exactOptional(v.array(LtvGroup)),
  }),
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
export const ConversionGroup = v.strictObject({ ...segment, cohorts: v.array(ConversionCohort) });

export const getConversion = defineContract({
  ...common,
  id: 'get-conversion',
  summary: 'Get the conversion of trials and customers to payers by start cohort',
  path: '/v3/stats/conversion',
  query: cohortQuery,
  response: v.strictObject({
    interval: CohortInterval,
    ...head,
    cohorts: v.array(ConversionCohort),
    groups: v.exactOptional(v.array(ConversionGroup)),
  }),
});
