import type { BreakdownRow } from '../../lib/statistics/breakdown-contract.ts';
import { formatNumber, formatPercent, formatUsd } from '../format.ts';

type Rows = readonly BreakdownRow[];

/** A figure of one or more intervals of the statistics. */
export interface Metric {
  readonly id: string;
  readonly label: string;
  /** Reads the value of the intervals together. Undefined if there is none, such as a conversion without trials. */
  readonly read: (rows: Rows) => number | undefined;
  readonly format: (value: number) => string;
}

const sum = (rows: Rows, read: (row: BreakdownRow) => number): number =>
  rows.reduce((total, row) => total + read(row), 0);

/** Counts lifecycle reasons of subscriptions outside the sandbox. */
const countReason =
  (...reasons: readonly string[]) =>
  (rows: Rows): number =>
    sum(rows, ({ subscriptionNotifications }) =>
      reasons.reduce((total, reason) => total + (subscriptionNotifications[reason] ?? 0), 0),
    );

/** Counts the trials that started in the intervals, by outcome. */
export function summarizeTrials(rows: Rows) {
  const started = sum(rows, ({ trialsStarted }) => trialsStarted);
  const converted = sum(rows, ({ startedTrials }) => startedTrials.converted);
  const ended = sum(rows, ({ startedTrials }) => startedTrials.ended);
  return { started, converted, ended, running: started - converted - ended };
}

/** Part of the paid transactions whose currency has no rate. */
export function readUnconvertedShare(rows: Rows): number {
  const paid = sum(rows, ({ numPaidTransactions }) => numPaidTransactions);
  return paid === 0 ? 0 : sum(rows, (row) => row.unconvertedShare * row.numPaidTransactions) / paid;
}

const sumRevenue = (rows: Rows): number => sum(rows, ({ amountUSD }) => amountUSD);

/** Share of the trials that started in the intervals and were converted. Undefined without trials. */
const readConversion = (rows: Rows): number | undefined => {
  const { started, converted } = summarizeTrials(rows);
  return started === 0 ? undefined : converted / started;
};

/** The running total at the end of the last interval. */
const readLast =
  (read: (row: BreakdownRow) => number) =>
  (rows: Rows): number | undefined => {
    const last = rows.at(-1);
    return last && read(last);
  };

/** The figures of the overview, in the order of the page. */
export const metrics = [
  { id: 'revenue', label: 'Revenue', read: sumRevenue, format: formatUsd },
  {
    id: 'active',
    label: 'Active subscriptions',
    read: readLast((row) => row.activeSubscriptions),
    format: formatNumber,
  },
  { id: 'in-trial', label: 'In a trial', read: readLast((row) => row.activeTrials), format: formatNumber },
  {
    id: 'unverified',
    label: 'Not verified',
    read: readLast((row) => row.unverifiedSubscriptions),
    format: formatNumber,
  },
  { id: 'new', label: 'New', read: countReason('PURCHASED'), format: formatNumber },
  { id: 'renewed', label: 'Renewed', read: countReason('RENEWED'), format: formatNumber },
  { id: 'lost', label: 'Lost', read: countReason('EXPIRED', 'REVOKED'), format: formatNumber },
  { id: 'refunded', label: 'Refunded', read: countReason('REFUNDED'), format: formatNumber },
  {
    id: 'paid',
    label: 'Paid transactions',
    read: (rows: Rows) => sum(rows, ({ numPaidTransactions }) => numPaidTransactions),
    format: formatNumber,
  },
  { id: 'trials', label: 'Trials started', read: (rows: Rows) => summarizeTrials(rows).started, format: formatNumber },
  { id: 'conversion', label: 'Trial conversion', read: readConversion, format: formatPercent },
] as const satisfies readonly Metric[];

export type MetricId = (typeof metrics)[number]['id'];

/** Returns the metric of the id, revenue if it is unknown. */
export const chooseMetric = (id: string | undefined): Metric =>
  metrics.find((metric) => metric.id === id) ?? metrics[0];

/** Reads the value of each interval, for a chart. */
export const readEach = ({ read }: Pick<Metric, 'read'>, rows: Rows): (number | null)[] =>
  rows.map((row) => read([row]) ?? null);
