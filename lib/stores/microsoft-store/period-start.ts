import { addBillingPeriods } from '../../foundation/billing-period.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';

interface PeriodDates {
  readonly startTime: EpochMillis;
  readonly expirationTime: EpochMillis;
  readonly period?: string | undefined;
  /** Expiration at an earlier refresh. */
  readonly previousExpiration?: EpochMillis | undefined;
}

/** A month and a day. The store offers no shorter billing period than a month. */
const maxFirstPeriodMs = 32 * dayMs;

/** Tolerance between the computed and the actual end of a period. */
const maxToleranceMs = 4 * dayMs;

/** Returns the length of a billing period from its code, such as `P1M`. */
export const getPeriodMs = (period: string): number => Math.max(dayMs, addBillingPeriods(0, period, 1));

/** Returns by how much the end of a period can differ from the computed one. */
export const getToleranceMs = (periodMs: number): number => Math.min(maxToleranceMs, periodMs / 4);

/**
 * Estimates the start of a subscription's current period. The store reports only the start of the first period and the
 * end of the current one. Returns undefined without a billing period and an earlier expiration.
 */
export function estimatePeriodStart({
  startTime,
  expirationTime,
  period,
  previousExpiration,
}: PeriodDates): EpochMillis | undefined {
  if (period !== undefined) return estimateStartByPeriod(startTime, expirationTime, period);
  if (expirationTime - startTime <= maxFirstPeriodMs) return startTime;
  const isRenewed = previousExpiration !== undefined && previousExpiration < expirationTime;
  return isRenewed && previousExpiration > startTime ? previousExpiration : undefined;
}

/**
 * Counts periods from the first start, which keeps the day of the month. Counts back from the end if a trial or a free
 * extension moved the periods.
 */
function estimateStartByPeriod(startTime: EpochMillis, expirationTime: EpochMillis, period: string): EpochMillis {
  const periodMs = getPeriodMs(period);
  const toleranceMs = getToleranceMs(periodMs);
  const count = Math.max(1, Math.round((expirationTime - startTime) / periodMs));
  const isRegular = Math.abs(addBillingPeriods(startTime, period, count) - expirationTime) <= toleranceMs;
  const start = isRegular
    ? addBillingPeriods(startTime, period, count - 1)
    : addBillingPeriods(expirationTime, period, -1);
  return start <= startTime + toleranceMs ? startTime : start;
}
