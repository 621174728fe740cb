import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation, describeValue } from '../api/describe.ts';
import { emptyAsAbsent } from '../api/schemas.ts';
import {
  defineFigures,
  figureCommon,
  figureHead,
  figureParameters,
  figureQuery,
  figureRange,
  headTexts,
  segmentTexts,
} from './figures-contract.ts';

/** Length of the intervals in which cohorts start. Weeks start on Monday. */
export const CohortInterval = v.picklist(['week', 'month']);
export type CohortInterval = v.InferOutput<typeof CohortInterval>;
const cohortQuery = v.object({ ...figureQuery, interval: emptyAsAbsent(CohortInterval) });

const cohortHead = { interval: CohortInterval, ...figureHead };

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
const Retention = defineFigures(cohortHead, { cohorts: v.array(RetentionCohort) });

export const getRetention = defineContract({
  ...figureCommon,
  id: 'get-retention',
  summary: 'Get the retention of subscriptions and their revenue by cohort',
  path: '/v3/stats/retention',
  query: cohortQuery,
  response: Retention.Figures,
});

const LtvAge = v.strictObject({
  /** Months since the customers are known. */
  month: v.number(),
  revenueUSD: v.number(),
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
const Ltv = defineFigures(cohortHead, { cohorts: v.array(LtvCohort) });

export const getLtv = defineContract({
  ...figureCommon,
  id: 'get-ltv',
  summary: 'Get the realized revenue per customer by cohort and age',
  path: '/v3/stats/ltv',
  query: cohortQuery,
  response: Ltv.Figures,
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
const Conversion = defineFigures(cohortHead, { cohorts: v.array(ConversionCohort) });

export const getConversion = defineContract({
  ...figureCommon,
  id: 'get-conversion',
  summary: 'Get the conversion of trials and customers to payers by start cohort',
  path: '/v3/stats/conversion',
  query: cohortQuery,
  response: Conversion.Figures,
});
const startField = ['First day of the cohort, `YYYY-MM-DD`.', '2026-01-01'] as const;
const customerTexts = {
  customers: ['Customers who were first seen in the interval.', 400],
  payers: ['Customers who have paid.', 50],
} as const;
const cohortParameter = { interval: ['Interval in which a cohort starts. The default is `month`.', 'month'] } as const;

const descriptions = [
  describeValue('CohortInterval', CohortInterval, 'Interval in which a cohort starts. Weeks start on Monday.', 'month'),
  describeObject('RetentionPeriod', RetentionPeriod, 'A period of a cohort.', {
    index: ['Weeks or months since the first payment.', 1],
    active: ['Subscriptions that are paid in the middle of the period. For index 0: the size of the cohort.', 80],
    rate: ['`active` divided by `size`.', 0.8, 'decimal'],
    revenueUSD: ['Payments in the period, in US dollars, exact to a millionth.', 799.2, 'decimal'],
  }),
  describeObject('RetentionCohort', RetentionCohort, 'Subscriptions with their first payment in the same interval.', {
    start: startField,
    size: ['Number of subscriptions.', 100],
    completePeriods: ['Number of periods that are complete for the whole cohort. Later ones still change.', 2],
    periods: ['The periods that have started, earliest first.'],
  }),
  describeObject('RetentionGroup', Retention.Group, 'Retention of one value of the dimension.', {
    ...segmentTexts,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Retention', Retention.Figures, 'Retention by cohort.', {
    ...headTexts,
    interval: ['Interval in which the cohorts start, and length of their periods.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
  describeObject('LtvAge', LtvAge, 'Revenue of a cohort up to an age.', {
    month: ['Months since the customers were first seen.', 3],
    revenueUSD: ['Payments up to the end of the month, exact to a millionth.', 151.2, 'decimal'],
    revenuePerCustomerUSD: ['Payments up to the end of the month, divided by all customers.', 4.2, 'decimal'],
    revenuePerPayerUSD: ['The same payments divided by the customers who have paid.', 33.6, 'decimal'],
  }),
  describeObject('LtvCohort', LtvCohort, 'Customers who were first seen in the same interval.', {
    start: startField,
    ...customerTexts,
    ages: ['The months that have started, earliest first.'],
  }),
  describeObject('LtvGroup', Ltv.Group, 'Realized revenue of one value of the dimension.', {
    ...segmentTexts,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Ltv', Ltv.Figures, 'Realized revenue per customer by cohort.', {
    ...headTexts,
    interval: ['Interval in which the cohorts start.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
  describeObject('ConversionCohort', ConversionCohort, 'Trials and customers that started in the same interval.', {
    start: startField,
    trials: ['Trials that started in the interval.', 40],
    converted: ['Trials that a payment followed, without payments that are refunded in full.', 12],
    conversionRate: ['`converted` divided by `trials`.', 0.3, 'decimal'],
    ...customerTexts,
    payerRate: ['`payers` divided by `customers`.', 0.125, 'decimal'],
  }),
  describeObject('ConversionGroup', Conversion.Group, 'Conversion of one value of the dimension.', {
    ...segmentTexts,
    cohorts: ['One cohort for each interval of the range, earliest first.'],
  }),
  describeObject('Conversion', Conversion.Figures, 'Conversion by cohort.', {
    ...headTexts,
    interval: ['Interval in which the cohorts start.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
];

const operations = [
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
];

export const cohortApi: ApiPart = { descriptions, operations };
