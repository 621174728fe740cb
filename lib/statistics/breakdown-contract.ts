import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  dayRange,
  describeObject,
  describeOperation,
  describeValue,
  pagingParameters,
  sandboxOnly,
} from '../api/describe.ts';
import { PagingInformation, pagingQuery, QueryDay } from '../api/paging.ts';
import { DateTime, emptyAsAbsent, OptionalText, PlatformToken, QueryFlag } from '../api/schemas.ts';
import { amountTexts, countedUntilText, statsCommon } from './contract.ts';

/** Length of an interval. Weeks start on Monday, quarters in January, `range` is the whole range of the query. */
export const StatsInterval = v.picklist(['day', 'week', 'month', 'quarter', 'range']);
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
  /** Part of the paid transactions whose currency lacks a rate: `amountUSD` lacks them. */
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
  platform: v.exactOptional(PlatformToken),
  /** Present with `by=product`. */
  productId: OptionalText,
  /** The whole range as one row, not rounded to cents. */
  totals: BreakdownRow,
  /** One for each interval of the range, earliest first. */
  rows: v.array(BreakdownRow),
});
export type BreakdownGroup = v.InferOutput<typeof BreakdownGroup>;

const StatsBreakdown = v.strictObject({
  countedUntil: DateTime,
  interval: StatsInterval,
  by: StatsDimension,
  groups: v.array(BreakdownGroup),
  /** The page of products, with `by=product`. `limit` can be less than requested. */
  products: v.exactOptional(PagingInformation),
});

export const getStatsBreakdown = defineContract({
  ...statsCommon,
  id: 'get-stats-breakdown',
  summary: 'Get statistics by interval, platform or product',
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

const descriptions = [
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
    ...amountTexts,
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
    totals: ['The whole range as one row, exact to a millionth: rounded rows need not add up to it.'],
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('StatsBreakdown', StatsBreakdown, 'Statistics by interval and dimension.', {
    countedUntil: countedUntilText,
    interval: ['Length of the intervals.'],
    by: ['The dimension.'],
    groups: ['One group for each value of the dimension.'],
    products: ['The page of products. Present with `by=product`; `limit` can be less than requested.'],
  }),
  describeValue(
    'StatsInterval',
    StatsInterval,
    'Length of an interval. Weeks start on Monday, quarters in January. `range` is the whole range of the query.',
    'month',
  ),
  describeValue('StatsDimension', StatsDimension, 'Dimension of the breakdown.', 'platform'),
];

const operations = [
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
];

export const breakdownApi: ApiPart = { descriptions, operations };
