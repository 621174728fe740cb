import { addBillingPeriods } from '../foundation/billing-period.ts';
import { addDays, addMonths, listDays } from '../foundation/calendar.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { CohortInterval, ConversionCohort, LtvCohort, RetentionCohort } from './cohort-contract.ts';
import { getCheckTime, getCohortStart } from './cohort-periods.ts';
import { getCohortNames, maxCohortPeriods } from './counter-names.ts';
import { type Counts, countMonthRows, listHourCounts } from './counts.ts';
import { type FigureSums, readAmount, sumCounts, toRate } from './figure-sums.ts';
import type { FiguresAmount } from './figures-contract.ts';
import { roundToCents, toExactUsd } from './to-stats.ts';

export interface CohortContext {
  readonly unit: CohortInterval;
  readonly amount: FiguresAmount;
  readonly now: EpochMillis;
}

const toTime = (day: string): EpochMillis => Date.parse(`${day}T00:00:00Z`);

/** Lists the first days of the cohorts of a range that have started. */
export function listCohortStarts(
  [first, last]: readonly [string, string],
  unit: CohortInterval,
  today: string,
): string[] {
  const end = last < today ? last : today;
  const starts: string[] = [];
  for (let start = getCohortStart(toTime(first), unit); start <= end; start = getNextStart(start, unit))
    starts.push(start);
  return starts;
}

/** Returns the first day of the next cohort. */
export const getNextStart = (start: string, unit: CohortInterval): string =>
  unit === 'week' ? addDays(start, 7) : `${addMonths(start.slice(0, 7), 1)}-01`;

const listPeriods = (start: string, unit: CohortInterval, now: EpochMillis): number[] => {
  const period = unit === 'week' ? 'P1W' : 'P1M';
  const indexes: number[] = [];
  for (let index = 0; index <= maxCohortPeriods[unit]; index++) {
    if (addBillingPeriods(toTime(start), period, index) > now) break;
    indexes.push(index);
  }
  return indexes;
};

/** The sums of a segment for its cohorts. */
export interface CohortSums {
  readonly sums: FigureSums;
  /** Sums of all months that were read. */
  readonly counts: Counts;
  /** The same for the whole app. */
  readonly totals: Counts;
  readonly customers: CustomersByPeriod;
}

/** Builds the retention of each cohort. */
export function buildRetentionCohorts(
  { counts }: CohortSums,
  starts: readonly string[],
  { unit, amount, now }: CohortContext,
): RetentionCohort[] {
  return starts.map((start) => {
    const names = getCohortNames('subscription', unit, start);
    const size = counts[names.size] ?? 0;
    let active = 0;
    const periods = listPeriods(start, unit, now).map((index) => {
      active = index === 0 ? 0 : active + (counts[names.active(index)] ?? 0);
      const activeNow = index === 0 ? size : active;
      return {
        index,
        active: activeNow,
        rate: toRate(activeNow, size),
        revenueUSD: toExactUsd(readAmount(counts, amount, (sum) => names.amount(sum, index))),
      };
    });
    const lastStart = toTime(getNextStart(start, unit));
    const isComplete = ({ index }: { readonly index: number }): boolean =>
      (index === 0 ? lastStart : getCheckTime(lastStart, unit, index)) <= now;
    return { start, size, completePeriods: periods.filter(isComplete).length, periods };
  });
}

/** Customers that were stored, by day or month. */
type CustomersByPeriod = ReadonlyMap<string, number>;

/** Counts the customers of each period: a day counts them by hour. */
export const countCustomers = (periods: ReadonlyMap<string, Counts>): CustomersByPeriod =>
  new Map(
    [...periods].map(([period, counts]) => [
      period,
      listHourCounts(counts, 'customers').reduce((sum, count) => sum + count, countMonthRows(counts, 'customers')),
    ]),
  );

/** Lists the days or the month of a cohort: the periods of its counters. */
const listCohortPeriods = (start: string, unit: CohortInterval): string[] =>
  unit === 'month' ? [start.slice(0, 7)] : listDays(start, addDays(start, 6));

interface CustomerCohort {
  readonly customers: number;
  readonly payers: number;
}

/**
 * Counts customers and payers of a cohort. A segment counts all customers of the app. An erased customer
 * who has paid stays a payer, so there are never fewer customers than payers.
 */
function countCohort(start: string, unit: CohortInterval, { counts, totals, customers }: CohortSums): CustomerCohort {
  const names = getCohortNames('customer', unit, start);
  const stored = listCohortPeriods(start, unit).reduce((sum, period) => sum + (customers.get(period) ?? 0), 0);
  const allPayers = totals[names.size] ?? 0;
  return {
    customers: Math.max(allPayers, stored + (totals[names.moved] ?? 0)),
    payers: counts[names.size] ?? 0,
  };
}

/** Builds the realized revenue of each cohort of customers by age. The amounts are sums up to the end of the month. */
export function buildLtvCohorts(
  cohortSums: CohortSums,
  starts: readonly string[],
  { unit, amount, now }: CohortContext,
): LtvCohort[] {
  return starts.map((start) => {
    const names = getCohortNames('customer', unit, start);
    const cohort = countCohort(start, unit, cohortSums);
    let revenue = 0;
    const ages = listPeriods(start, 'month', now).map((month) => {
      revenue += readAmount(cohortSums.counts, amount, (sum) => names.amount(sum, month));
      return {
        month,
        revenueUSD: toExactUsd(revenue),
        revenuePerCustomerUSD: divide(revenue, cohort.customers),
        revenuePerPayerUSD: divide(revenue, cohort.payers),
      };
    });
    return { start, ...cohort, ages };
  });
}

const divide = (micros: number, count: number): number => (count > 0 ? roundToCents(micros / count) : 0);

/** Builds the conversion of the trials and customers of each cohort. */
export function buildConversionCohorts(
  cohortSums: CohortSums,
  starts: readonly string[],
  { unit }: CohortContext,
): ConversionCohort[] {
  const { days, months } = cohortSums.sums;
  const periods = unit === 'month' ? months : days;
  return starts.map((start) => {
    const counts = sumCounts(listCohortPeriods(start, unit).map((period) => periods.get(period) ?? {}));
    const { trials = 0, converted: paid = 0, unconverted = 0 } = counts;
    const converted = paid - unconverted;
    const cohort = countCohort(start, unit, cohortSums);
    return {
      start,
      trials,
      converted,
      conversionRate: toRate(converted, trials),
      ...cohort,
      payerRate: toRate(cohort.payers, cohort.customers),
    };
  });
}
