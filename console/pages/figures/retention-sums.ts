import type { RetentionCohort } from '../../../lib/statistics/cohort-contract.ts';

interface PeriodSums {
  /** Subscriptions of the cohorts whose period has ended. */
  readonly size: number;
  readonly active: number;
  /** The same cohorts in the period before. */
  readonly activeBefore: number;
  readonly revenueUSD: number;
  readonly firstRevenueUSD: number;
  readonly isComplete: boolean;
}

/**
 * Adds up a period of cohorts. Cohorts whose period `last` is not complete are left out, unless no cohort is complete.
 * Undefined if no cohort has reached the period.
 */
export function sumPeriod(
  cohorts: readonly RetentionCohort[],
  index: number,
  last: number = index,
): PeriodSums | undefined {
  const reached = cohorts.filter(({ size, periods }) => size > 0 && index < periods.length);
  const complete = reached.filter(({ completePeriods }) => last < completePeriods);
  const counted = complete.length > 0 ? complete : reached;
  if (counted.length === 0) return undefined;
  const sum = (read: (cohort: RetentionCohort) => number | undefined): number =>
    counted.reduce((total, cohort) => total + (read(cohort) ?? 0), 0);
  return {
    size: sum(({ size }) => size),
    active: sum(({ periods }) => periods[index]?.active),
    activeBefore: sum(({ size, periods }) => (index === 0 ? size : periods[index - 1]?.active)),
    revenueUSD: sum(({ periods }) => periods[index]?.revenueUSD),
    firstRevenueUSD: sum(({ periods }) => periods[0]?.revenueUSD),
    isComplete: complete.length > 0,
  };
}

/** Share of the subscriptions of complete cohorts that are active in a period. */
export const readRetention =
  (index: number) =>
  (cohorts: readonly RetentionCohort[]): number | undefined => {
    const sums = sumPeriod(cohorts, index);
    return sums?.isComplete ? sums.active / sums.size : undefined;
  };

interface Loss {
  /** Active subscriptions in the period before. */
  readonly before: number;
  readonly lost: number;
  readonly share: number;
}

/** Subscriptions of complete cohorts that are lost in a period. Undefined if none was active before it. */
export function readLoss(cohorts: readonly RetentionCohort[], index: number): Loss | undefined {
  const sums = sumPeriod(cohorts, index);
  if (!sums?.isComplete || sums.activeBefore === 0) return undefined;
  const lost = sums.activeBefore - sums.active;
  return { before: sums.activeBefore, lost, share: lost / sums.activeBefore };
}
