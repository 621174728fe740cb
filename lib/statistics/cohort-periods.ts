import { addBillingPeriods } from '../foundation/billing-period.ts';
import { addDays } from '../foundation/calendar.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { type CohortUnit, maxCohortPeriods } from './counter-names.ts';

/** Returns the first day of the week (Monday) or month (UTC) that contains a time. */
export function getCohortStart(date: EpochMillis, unit: CohortUnit): string {
  const day = toUtcDay(date);
  if (unit === 'month') return `${day.slice(0, 7)}-01`;
  const daysSinceMonday = (new Date(date).getUTCDay() + 6) % 7;
  return addDays(day, -daysSinceMonday);
}

const addUnits = (start: EpochMillis, unit: CohortUnit, count: number): EpochMillis =>
  addBillingPeriods(start, unit === 'month' ? 'P1M' : 'P1W', count);

/**
 * Time after the start of a period at which it counts as active: about its middle, so that neither an early renewal nor
 * one that the store could collect only days later changes a cohort.
 */
const checkDelayMs: Readonly<Record<CohortUnit, number>> = { month: 15 * dayMs, week: 3.5 * dayMs };

/** Time before the start of a period from which on a payment belongs to the period. */
const earlyPaymentMs: Readonly<Record<CohortUnit, number>> = { month: 3 * dayMs, week: dayMs };

/** Returns the middle of a period, counted from the first payment. */
export const getCheckTime = (firstPaidAt: EpochMillis, unit: CohortUnit, index: number): EpochMillis =>
  addUnits(firstPaidAt, unit, index) + checkDelayMs[unit];

/**
 * Returns the first period after period 0 whose middle is paid, and the first one after it that is not. Undefined if
 * the time pays for none.
 */
export function findPaidPeriods(
  firstPaidAt: EpochMillis,
  { from, until, unit }: { readonly from: EpochMillis; readonly until: EpochMillis; readonly unit: CohortUnit },
): { readonly first: number; readonly end: number } | undefined {
  const findIndex = (time: EpochMillis): number => {
    let index = estimateIndex(firstPaidAt, time, unit);
    while (index > 1 && getCheckTime(firstPaidAt, unit, index - 1) >= time) index--;
    while (index <= maxCohortPeriods[unit] && getCheckTime(firstPaidAt, unit, index) < time) index++;
    return Math.max(1, index);
  };
  const [first, end] = [findIndex(from), findIndex(until)];
  return first < end ? { first, end } : undefined;
}

/** Returns the period in which a payment is made. */
export function findPaymentPeriod(firstPaidAt: EpochMillis, paidAt: EpochMillis, unit: CohortUnit): number {
  const time = paidAt + earlyPaymentMs[unit];
  let index = Math.max(0, estimateIndex(firstPaidAt, time, unit) - 1);
  while (addUnits(firstPaidAt, unit, index + 1) <= time) index++;
  return index;
}

const estimateIndex = (start: EpochMillis, time: EpochMillis, unit: CohortUnit): number =>
  Math.max(0, Math.floor((time - start) / ((unit === 'month' ? 31 : 7) * dayMs)));
