import * as v from 'valibot';
import { PagingInformation } from '../../../lib/api/paging.ts';
import { EntitlementName } from '../../../lib/api/schemas.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { omitUndefined } from '../../../lib/foundation/omit-undefined.ts';
import { Platform } from '../../../lib/foundation/platform.ts';
import { BreakdownRow, getStatsBreakdown, StatsInterval } from '../../../lib/statistics/breakdown-contract.ts';
import {
  ConversionCohort,
  getConversion,
  getLtv,
  getRetention,
  LtvCohort,
  RetentionCohort,
} from '../../../lib/statistics/cohort-contract.ts';
import { FiguresAmount, FiguresDimension, ProceedsSource } from '../../../lib/statistics/figures-contract.ts';
import { ChurnRow, getChurn, getMrr, MrrRow } from '../../../lib/statistics/mrr-contract.ts';
import type { ApiReader } from '../api-reader.ts';
import { flattenGroups } from '../flatten-groups.ts';
import { Day, defineTool, OmittedRows } from '../tool.ts';

const {
  amountMicros: _micros,
  notifications: _notifications,
  subscriptionNotifications: _subscriptionNotifications,
  startedTrials: _startedTrials,
  ...revenueEntries
} = BreakdownRow.entries;

/** The members of the rows of all figures. A row has the members of its figure. */
const FigureRow = v.partial(
  v.object({
    platform: Platform,
    productId: v.string(),
    country: v.pipe(v.string(), v.regex(/^[A-Z]{2}$/)),
    entitlement: EntitlementName,
    ...revenueEntries,
    ...MrrRow.entries,
    ...ChurnRow.entries,
    ...RetentionCohort.entries,
    ...LtvCohort.entries,
    ...ConversionCohort.entries,
    date: Day,
    enddate: Day,
    start: Day,
  }),
);

const contracts = { mrr: getMrr, churn: getChurn, retention: getRetention, ltv: getLtv, conversion: getConversion };

const Input = v.object({
  figure: v.picklist(['revenue', 'mrr', 'churn', 'retention', 'ltv', 'conversion']),
  startdate: v.exactOptional(Day),
  enddate: v.exactOptional(Day),
  interval: v.exactOptional(StatsInterval),
  by: v.exactOptional(FiguresDimension),
  amount: v.exactOptional(FiguresAmount),
  sandbox: v.exactOptional(v.boolean()),
  skip: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999_999_999))),
});

export const figures = defineTool({
  name: 'figures',
  title: 'Get figures',
  description:
    'Gets a figure of the app in US dollars. revenue: payments, transactions, active subscriptions and trials; mrr: ' +
    'recurring revenue and its movement; churn; retention and ltv by cohort; conversion of trials. Intervals are day, ' +
    'week, month, quarter or range; cohorts are weeks or months. by: platform or product for all, country or entitlement for ' +
    'all but revenue. amount does not apply to revenue. sandbox gets the figures of the sandbox purchases only. Cohorts have ' +
    'their first 13 periods. If rows are omitted, narrow the range, or pass the number of products as skip.',
  input: Input,
  output: v.object({
    figure: Input.entries.figure,
    countedUntil: getMrr.response.entries.countedUntil,
    interval: StatsInterval,
    by: FiguresDimension,
    amount: v.exactOptional(FiguresAmount),
    proceedsSource: v.exactOptional(ProceedsSource),
    products: v.exactOptional(PagingInformation),
    rows: v.array(FigureRow),
    omittedRows: OmittedRows,
  }),
  read: async (input, api) =>
    input.figure === 'revenue' ? await readRevenue(input, api) : await readFigure(input, api),
});

type Input = v.InferOutput<typeof Input>;

async function readRevenue({ figure, amount, ...query }: Input, api: ApiReader) {
  if (amount !== undefined) throw new ServiceError('InvalidPayload', 'amount does not apply to revenue.');
  const { groups, ...head } = await api.read(getStatsBreakdown, { query });
  return { figure, ...head, ...flattenGroups(groups) };
}

async function readFigure({ figure, ...query }: Input, api: ApiReader) {
  if (figure === 'revenue') throw new ServiceError('InvalidPayload', 'Revenue is not a figure of subscriptions.');
  const response = await api.read(contracts[figure], { query });
  const { countedUntil, interval, by, amount, proceedsSource, products } = response;
  return {
    figure,
    countedUntil,
    interval,
    by,
    amount,
    ...omitUndefined({ proceedsSource, products }),
    ...flattenGroups(response.groups ?? [response]),
  };
}
