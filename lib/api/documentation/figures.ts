import { describeObject, describeOperation, describeValue } from '../describe.ts';
import {
  ChurnGroup,
  ChurnRow,
  CohortInterval,
  ConversionCohort,
  ConversionGroup,
  FiguresAmount,
  FiguresDimension,
  getChurn,
  getConversion,
  getLtv,
  getMrr,
  getRetention,
  LtvAge,
  LtvCohort,
  LtvGroup,
  MrrGroup,
  MrrMovement,
  MrrRow,
  ProceedsSource,
  RetentionCohort,
  RetentionGroup,
  RetentionPeriod,
} from '../figures.ts';
import { dayRange, pagingParameters, sandboxOnly } from '../parameters.ts';

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

export const figureDescriptions = [
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
  describeObject('Mrr', getMrr.response, 'Recurring revenue by interval.', {
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
  describeObject('Churn', getChurn.response, 'Churn by interval.', {
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
  describeObject('Retention', getRetention.response, 'Retention by cohort.', {
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
  describeObject('Ltv', getLtv.response, 'Realized revenue per customer by cohort.', {
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
  describeObject('Conversion', getConversion.response, 'Conversion by cohort.', {
    ...headFields,
    interval: ['Interval in which the cohorts start.'],
    cohorts: ['One cohort for each interval of the range that has started, earliest first.'],
  }),
];

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
const defaultRange = 'The default range is the last 12 months. The guide "Figures" has the definitions.';

export const figureOperations = [
  describeOperation(getMrr, {
    description: `Returns monthly and annual recurring revenue with its movement. ${defaultRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
  describeOperation(getChurn, {
    description: `Returns the churn of subscriptions and of recurring revenue. ${defaultRange}`,
    query: { ...figureParameters, ...intervalParameter },
  }),
  describeOperation(getRetention, {
    description: `Returns the retention of subscriptions by week or month of their first payment. ${defaultRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
  describeOperation(getLtv, {
    description: `Returns the realized revenue per customer by cohort and age. ${defaultRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
  describeOperation(getConversion, {
    description: `Returns the conversion of trials to paid subscriptions, and of customers to payers. ${defaultRange}`,
    query: { ...figureParameters, ...cohortParameter },
  }),
];
