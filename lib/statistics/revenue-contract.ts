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
import { dateField, intervalParameter } from './mrr-contract.ts';

const { amount: _amount, ...revenueHead } = figureHead;
const { amount: _amountQuery, ...revenueQuery } = figureQuery;
const { amount: _amountParameter, ...revenueParameters } = figureParameters;

/** Payments and refunds of a currency, in micros. */
const CurrencyRevenue = v.strictObject({
  grossMicros: v.number(),
  refundsMicros: v.number(),
  commissionMicros: v.number(),
  taxMicros: v.number(),
  proceedsMicros: v.number(),
});
export type CurrencyRevenue = v.InferOutput<typeof CurrencyRevenue>;

export const RevenueRow = v.strictObject({
  /** First day of the interval within the range (`YYYY-MM-DD`). */
  date: v.string(),
  grossUSD: v.number(),
  refundsUSD: v.number(),
  commissionUSD: v.number(),
  taxUSD: v.number(),
  /** `grossUSD` - `refundsUSD` - `commissionUSD` - `taxUSD`. */
  proceedsUSD: v.number(),
  /** Part of the payments of the interval whose currency lacks a rate. */
  unconvertedShare: v.number(),
  /** By ISO 4217 code. `XXX`: any other code. */
  currencies: v.record(v.string(), CurrencyRevenue),
});
export type RevenueRow = v.InferOutput<typeof RevenueRow>;
const Revenue = defineFigures(
  { interval: StatsInterval, ...revenueHead },
  { totals: v.exactOptional(RevenueRow), rows: v.array(RevenueRow) },
);

export const getRevenue = defineContract({
  ...figureCommon,
  id: 'get-revenue',
  summary: 'Get payments, refunds, commission, tax and proceeds',
  path: '/v3/stats/revenue',
  query: v.object({ ...revenueQuery, interval: emptyAsAbsent(StatsInterval) }),
  response: Revenue.Figures,
});

const descriptions = [
  describeObject('CurrencyRevenue', CurrencyRevenue, 'Payments and refunds in a currency, in millionths.', {
    grossMicros: ['Payments.', 499000000],
    refundsMicros: ['Refunds.', 20000000],
    commissionMicros: ['Commission of the store.', 59875000],
    taxMicros: ['Tax that the store remits or reports.', 79833333],
    proceedsMicros: ['Payments without refunds, commission and tax.', 339291667],
  }),
  describeObject(
    'RevenueRow',
    RevenueRow,
    'Payments of an interval, and the refunds that were made in it. Amounts are exact: the rows add up.',
    {
      date: dateField,
      grossUSD: ['Payments, in US dollars.', 542.1, 'decimal'],
      refundsUSD: ['Refunds, on their own day.', 21.5, 'decimal'],
      commissionUSD: ['Commission of the store. A refund returns its part.', 65.07, 'decimal'],
      taxUSD: ['Tax. A refund returns its part.', 86.7, 'decimal'],
      proceedsUSD: ['`grossUSD` without `refundsUSD`, `commissionUSD` and `taxUSD`.', 368.83, 'decimal'],
      unconvertedShare: ['Part of the payments whose currency has no exchange rate.', 0.02, 'decimal'],
      currencies: ['The same by currency of the payments (ISO 4217 code).'],
    },
  ),
  describeObject('RevenueGroup', Revenue.Group, 'Revenue of one value of the dimension.', {
    ...segmentTexts,
    totals: totalsField,
    rows: ['One row for each interval of the range, earliest first.'],
  }),
  describeObject('Revenue', Revenue.Figures, 'Revenue by interval.', {
    ...headTexts,
    proceedsSource: ['Source of the proceeds. Absent without payments.'],
    interval: ['Length of the intervals.'],
    totals: totalsField,
    rows: ['One row for each interval of the range that has started, earliest first.'],
  }),
];

const operations = [
  describeOperation(getRevenue, {
    description: `Returns payments, refunds, commission, tax and proceeds, each on its own day. ${figureRange}`,
    query: { ...revenueParameters, ...intervalParameter },
  }),
];

export const revenueApi: ApiPart = { descriptions, operations };
