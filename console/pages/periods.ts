import type { BreakdownRow, StatsInterval } from '../../lib/statistics/breakdown-contract.ts';
import { formatDay } from '../format.ts';

/** Periods of the overview. Days are in UTC, like the statistics. */
export const periods = [
  { id: '7d', label: '7 days', days: 7 },
  { id: '30d', label: '30 days', days: 30 },
  { id: '90d', label: '90 days', days: 90 },
  { id: '12m', label: '12 months', months: 12 },
  { id: 'custom', label: 'Custom' },
] as const;

type PeriodId = (typeof periods)[number]['id'];

export interface Range {
  /** `2026-03-01`; both days are included. */
  readonly first: string;
  readonly last: string;
}

export interface Period {
  readonly id: PeriodId;
  readonly current: Range;
  /** The days of the period that have ended. Undefined if there are none. */
  readonly complete: Range | undefined;
  /** The same number of days before the period, for comparison with the complete days. */
  readonly previous: Range | undefined;
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
export const toChartDays = (rows: readonly { readonly date: string }[], interval: StatsInterval): string[] =>
  rows.map(({ date }) => (interval === 'month' ? date.slice(0, 7) : date));

/** Returns the positions of the intervals that the range cuts off, or that have not ended. */
export const listIncomplete = (
  rows: readonly Pick<BreakdownRow, 'date' | 'enddate'>[],
  interval: StatsInterval,
  now: number,
): number[] =>
  rows.flatMap(({ date, enddate }, index) =>
    enddate >= toDay(now) || !isWhole({ first: date, last: enddate }, interval) ? index : [],
  );

/** Returns the intervals that begin on these days. The last one ends with the range or today. */
export const toIntervals = (dates: readonly string[], { last }: Range, now: number) =>
  dates.map((date, index) => {
    const next = dates[index + 1];
    return { date, enddate: next === undefined ? ([last, toDay(now)].sort()[0] ?? last) : addDays(next, -1) };
  });

function isWhole({ first, last }: Range, interval: StatsInterval): boolean {
  if (interval === 'week') return countDays({ first, last }) === 7;
  return interval !== 'month' || (first.endsWith('-01') && addDays(last, 1).endsWith('-01'));
}

interface PeriodQuery {
  readonly period?: string | undefined;
  /** The days of a custom period. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Returns the period of the query, 30 days if it is unknown. All but a custom period end today. */
export function choosePeriod({ period: id, from, to }: PeriodQuery, now: number): Period {
  const period = periods.find((candidate) => candidate.id === id) ?? periods[1];
  const today = toDay(now);
  if ('months' in period)
    return buildPeriod(period.id, { first: addMonths(today, 1 - period.months), last: today }, today);
  if ('days' in period) return buildPeriod(period.id, { first: addDays(today, 1 - period.days), last: today }, today);
  const last = isDay(to) ? to : today;
  const first = isDay(from) && from <= last ? from : addDays(last, -29);
  return buildPeriod(period.id, { first, last }, today);
}

function buildPeriod(id: PeriodId, current: Range, today: string): Period {
  const { first } = current;
  const last = current.last < today ? current.last : addDays(today, -1);
  const complete = first <= last ? { first, last } : undefined;
  const days = complete && countDays(complete);
  return {
    id,
    current,
    complete,
    previous: days === undefined ? undefined : { first: addDays(first, -days), last: addDays(first, -1) },
    interval: countDays(current) > maxDaysByDay ? 'month' : 'day',
  };
}

/** A longer period has a chart by month. */
const maxDaysByDay = 120;

/** Describes the compared days, such as "1–24 Nov 2026 (24 complete days)". */
export const describeRange = ({ first, last }: Range): string =>
  first === last ? formatDay(first) : `${formatDay(first)} to ${formatDay(last)}`;

/** Describes the days of figures and which purchases they count. */
export const describeShownDays = (range: Range, isSandbox: boolean): string =>
  `${describeRange(range)}, days in UTC, ${isSandbox ? 'sandbox purchases only' : 'without sandbox purchases'}`;

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

export const dayMs = 86_400_000;

export const toDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

export const addDays = (day: string, days: number): string => toDay(Date.parse(day) + days * dayMs);

export const countDays = ({ first, last }: Range): number => (Date.parse(last) - Date.parse(first)) / dayMs + 1;

/** Returns the first day of the month that is this many months later. */
export function addMonths(day: string, months: number): string {
  const date = new Date(day);
  return toDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
}
