import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { emptyAsAbsent } from '../api/schemas.ts';
import { StatsInterval } from './breakdown-contract.ts';
import {
  defineFigures,
  figureCommon,
  figureHead,
  figureParameters,
  figureQuery,
  figureRange,
  headTexts,
  segmentTexts,
  totalsField,
} from './figures-contract.ts';

const intervalHead = { interval: StatsInterval, ...figureHead };
const intervalQuery = v.object({ ...figureQuery, interval: emptyAsAbsent(StatsInterval) });

/** Changes of the monthly recurring revenue in an interval, in US dollars. All but `exchange` are positive. */
const MrrMovement = v.strictObject({
  new: v.number(),
  expansion: v.number(),
  contraction: v.number(),
  churned: v.number(),
  reactivated: v.number(),
  /** Drift of exchange rates: negative if the dollar has gained. */
  exchange: v.number(),
});

export const MrrRow = v.strictObject({
  /** First day of the interval within the range (`YYYY-MM-DD`). */
  date: v.string(),
  /** At the end of the interval, or now. */
  mrrUSD: v.number(),
  arrUSD: v.number(),
  movement: MrrMovement,
  /** Part of the paying subscriptions at the end of the interval whose currency lacks a rate. */
  unconvertedShare: v.number(),
});
export type MrrRow = v.InferOutput<typeof MrrRow>;
const Mrr = defineFigures(intervalHead, { totals: v.exactOptional(MrrRow), rows: v.array(MrrRow) });

export const getMrr = defineContract({
  ...figureCommon,
  id: 'get-mrr',
  summary: 'Get monthly and annual recurring revenue, and its movement',
  path: '/v3/stats/mrr',
  query: intervalQuery,
  response: Mrr.Figures,
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
  /** Part of the paying subscriptions at the start of the interval whose currency lacks a rate. */
  unconvertedShare: v.number(),
});
export type ChurnRow = v.InferOutput<typeof ChurnRow>;
const Churn = defineFigures(intervalHead, { totals: v.exactOptional(ChurnRow), rows: v.array(ChurnRow) });

export const getChurn = defineContract({
  ...figureCommon,
  id: 'get-churn',
  summary: 'Get churn of subscriptions and of recurring revenue',
  path: '/v3/stats/churn',
  query: intervalQuery,
  response: Churn.Figures,
});

export const dateField = ['First day of the interval within the range, `YYYY-MM-DD`.', '2026-01-01'] as const;
export const intervalParameter = {
  interval: ['Length of the intervals. The default is `month`.', 'month'],
} as const;

const descriptions = [
  describeObject(
    'MrrMovement',
    MrrMovement,
    'Changes of the monthly recurring revenue. All but `exchange` are positive.',
    {
      new: ['Subscriptions that paid for the first time, in US dollars.', 120.5, 'decimal'],
      expansion: ['Increases of paying subscriptions, in US dollars.', 12.25, 'decimal'],
      contraction: ['Decreases of paying subscriptions, in US dollars.', 4.5, 'decimal'],
      churned: ['Subscriptions that ended, in US dollars.', 30.25, 'decimal'],
      reactivated: ['Subscriptions that paid again after their end, in US dollars.', 9.75, 'decimal'],
      exchange: ['Drift of exchange rates of paying subscriptions, in US dollars. Can be negative.', -1.25, 'decimal'],
    },
  ),
  describeObject('MrrRow', MrrRow, 'Recurring revenue of an interval.', {
    date: dateField,
    mrrUSD: ['Monthly recurring revenue at the end of the interval, or now, in US dollars.', 1520.4, 'decimal'],
    arrUSD: ['Annual recurring revenue: twelve times the monthly one.', 18244.8, 'decimal'],
    movement: ['Changes in the interval.'],
    unconvertedShare: ['Part of the paying subscriptions whose currency has no exchange rate.', 0.02, 'decimal'],
  }),
  describeObject('MrrGroup', Mrr.Group, 'Recurring revenue of one value of the dimension.', {
    ...segmentTexts,
    totals: totalsField,
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('Mrr', Mrr.Figures, 'Recurring revenue by interval.', {
    ...headTexts,
    interval: ['Length of the intervals.'],
    totals: totalsField,
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
  describeObject('ChurnGroup', Churn.Group, 'Churn of one value of the dimension.', {
    ...segmentTexts,
    totals: totalsField,
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('Churn', Churn.Figures, 'Churn by interval.', {
    ...headTexts,
    interval: ['Length of the intervals.'],
    totals: totalsField,
    rows: ['One row for each interval of the range that has started, earliest first.'],
  }),
];

const operations = [
  describeOperation(getMrr, {
    description: `Returns monthly and annual recurring revenue with its movement. ${figureRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
  describeOperation(getChurn, {
    description: `Returns the churn of subscriptions and of recurring revenue. ${figureRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
];

export const mrrApi: ApiPart = { descriptions, operations };
