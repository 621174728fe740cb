import type { BreakdownRow, StatsInterval } from '../../lib/statistics/breakdown-contract.ts';
import { formatDay, formatNumber } from '../format.ts';

/** Periods of the overview. Days are in UTC, like the statistics. */
export const periods = [
  { id: '7d', label: '7 days', days: 7 },
  { id: '30d', label: '30 days', days: 30 },
  { id: '90d', label: '90 days', days: 90 },
  { id: '12m', label: '12 months', months: 12 },
  { id: 'quarter', label: 'This quarter', quarters: 0 },
  { id: 'last-quarter', label: 'Last quarter', quarters: 1 },
  { id: 'custom', label: 'Custom' },
] as const;

export type PeriodId = (typeof periods)[number]['id'];

/** Periods to choose from. */
export const recentPeriods: readonly PeriodId[] = ['7d', '30d', '90d', '12m', 'custom'];
export const accountingPeriods: readonly PeriodId[] = ['30d', '12m', 'quarter', 'last-quarter', 'custom'];

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
  /** As many days before, for comparison with the complete days. A quarter is compared with the quarter before. */
  readonly previous: Range | undefined;
  /** Name of the previous days in a sentence. */
  readonly label: string | undefined;
  /** The interval of the charts if none is selected. */
  readonly interval: Exclude<StatsInterval, 'range'>;
}

/** Intervals of the charts. */
export const intervals = [
  { id: 'day', label: 'By day' },
  { id: 'week', label: 'By week' },
  { id: 'month', label: 'By month' },
  { id: 'quarter', label: 'By quarter' },
] as const;

/** Returns the interval of the id, the one of the period if it is unknown. */
export const chooseInterval = (id: string | undefined, period: Period): Period['interval'] =>
  intervals.find((interval) => interval.id === id)?.id ?? period.interval;

/** Returns the days, months or quarters of the rows, for a chart. */
export const toChartDays = (rows: readonly { readonly date: string }[], interval: StatsInterval): string[] =>
  rows.map(({ date }) => {
    if (interval === 'quarter') return `${date.slice(0, 4)}-Q${Math.ceil(Number(date.slice(5, 7)) / 3)}`;
    return interval === 'month' ? date.slice(0, 7) : date;
  });

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
  if (interval === 'quarter') return first === getQuarterStart(first) && addDays(last, 1) === addMonths(first, 3);
  return interval !== 'month' || (first.endsWith('-01') && addDays(last, 1).endsWith('-01'));
}

interface PeriodQuery {
  readonly period?: string | undefined;
  /** The days of a custom period. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Returns the first day of the quarter that contains a day. */
const getQuarterStart = (day: string): string => addMonths(day, -((Number(day.slice(5, 7)) - 1) % 3));

/** Returns the period of the query, 30 days if it is unknown. A custom period and the last quarter do not end today. */
export function choosePeriod({ period: id, from, to }: PeriodQuery, now: number): Period {
  const period = periods.find((candidate) => candidate.id === id) ?? periods[1];
  const today = toDay(now);
  if ('months' in period)
    return buildPeriod(period.id, { first: addMonths(today, 1 - period.months), last: today }, today);
  if ('days' in period) return buildPeriod(period.id, { first: addDays(today, 1 - period.days), last: today }, today);
  if ('quarters' in period)
    return buildQuarter(period.id, addMonths(getQuarterStart(today), -3 * period.quarters), today);
  const last = isDay(to) ? to : today;
  const first = isDay(from) && from <= last ? from : addDays(last, -29);
  return buildPeriod(period.id, { first, last }, today);
}

/** Compares a quarter with the one before: with all of it, or with as many days of it. */
function buildQuarter(id: PeriodId, first: string, today: string): Period {
  const end = addDays(addMonths(first, 3), -1);
  const period = buildPeriod(id, { first, last: end < today ? end : today }, today);
  if (!period.complete) return { ...period, interval: 'month' };
  const start = addMonths(first, -3);
  const sameDay = addDays(start, countDays(period.complete) - 1);
  const last = period.complete.last === end || sameDay >= first ? addDays(first, -1) : sameDay;
  const label = period.complete.last === end ? 'the quarter before' : 'the same days of the quarter before';
  return { ...period, previous: { first: start, last }, label, interval: 'month' };
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
    label: days === undefined ? undefined : `the ${formatNumber(days)} days before`,
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
