import type { BreakdownRow, StatsInterval } from '../../lib/api/stats.ts';

/** Periods of the overview. Days are in UTC, like the statistics. */
export const periods = [
  { id: '7d', label: '7 days', days: 7 },
  { id: '30d', label: '30 days', days: 30 },
  { id: '90d', label: '90 days', days: 90 },
  { id: '12m', label: '12 months', months: 12 },
] as const;

type PeriodId = (typeof periods)[number]['id'];

interface Range {
  /** `2026-03-01`; both days are included. */
  readonly first: string;
  readonly last: string;
}

export interface Period {
  readonly id: PeriodId;
  readonly current: Range;
  /** The period of the same length before the current one. */
  readonly previous: Range;
  /** Name of the previous period in a sentence. */
  readonly previousLabel: string;
  /** The interval of the charts if none is selected. */
  readonly interval: Exclude<StatsInterval, 'range'>;
}

/** Intervals of the charts. */
export const intervals = [
  { id: 'day', label: 'By day' },
  { id: 'week', label: 'By week' },
  { id: 'month', label: 'By month' },
] as const;

/** Returns the interval of the id, the one of the period if it is unknown. */
export const chooseInterval = (id: string | undefined, period: Period): Period['interval'] =>
  intervals.find((interval) => interval.id === id)?.id ?? period.interval;

/** Returns the days or months of the rows, for a chart. */
export const toChartDays = (rows: readonly BreakdownRow[], interval: StatsInterval): string[] =>
  rows.map(({ date }) => (interval === 'month' ? date.slice(0, 7) : date));

/** Returns the period of the id, 30 days if it is unknown, that ends today. */
export function choosePeriod(id: string | undefined, now: number): Period {
  const period = periods.find((candidate) => candidate.id === id) ?? periods[1];
  const today = new Date(now);
  const previousLabel = `the previous ${period.label}`;
  if ('months' in period) {
    const { months } = period;
    return {
      id: period.id,
      current: { first: toDay(addMonths(today, 1 - months)), last: toDay(today) },
      previous: {
        first: toDay(addMonths(today, 1 - 2 * months)),
        last: toDay(addDays(addMonths(today, 1 - months), -1)),
      },
      previousLabel,
      interval: 'month',
    };
  }
  const { days } = period;
  return {
    id: period.id,
    current: { first: toDay(addDays(today, 1 - days)), last: toDay(today) },
    previous: { first: toDay(addDays(today, 1 - 2 * days)), last: toDay(addDays(today, -days)) },
    previousLabel,
    interval: 'day',
  };
}

const toDay = (date: Date): string => date.toISOString().slice(0, 10);

const addDays = (date: Date, days: number): Date => new Date(date.getTime() + days * 86_400_000);

/** Returns the first day of the month that is this many months later. */
const addMonths = (date: Date, months: number): Date =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
