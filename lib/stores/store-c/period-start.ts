import type { EpochMillis } from '../../shared/time.ts';
import { dayMs } from '../../shared/time.ts';
import { addBillingPeriods } from '../billing-period.ts';

interface Dates {
  readonly startTime: EpochMillis;
  readonly expirationTime: EpochMillis;
  readonly period?: string | undefined;
  /** The expiration at an earlier look. */
  readonly previousExpiration?: EpochMillis | undefined;
}

/** No subscription of the store has a shorter period than a month. */
const minPeriodMs = 32 * dayMs;

/**
 * When the current period of a subscription began. The store tells only the start of the first one and the end of the
 * current one; what lies between follows from the length of a period or from an earlier look, else it stays undefined.
 */
export function estimatePeriodStart({
  startTime,
  expirationTime,
  period,
  previousExpiration,
}: Dates): EpochMillis | undefined {
  if (period !== undefined) return estimateStartByPeriod(startTime, expirationTime, period);
  if (expirationTime - startTime <= minPeriodMs) return startTime;
  const isMoved = previousExpiration !== undefined && previousExpiration < expirationTime;
  return isMoved && previousExpiration > startTime ? previousExpiration : undefined;
}

/** Counted from the first start, so that a month of 31 days keeps its day; backwards where trial or gift moved the row. */
function estimateStartByPeriod(startTime: EpochMillis, expirationTime: EpochMillis, period: string): EpochMillis {
  const lengthMs = Math.max(dayMs, addBillingPeriods(0, period, 1));
  const toleranceMs = Math.min(4 * dayMs, lengthMs / 4);
  const count = Math.max(1, Math.round((expirationTime - startTime) / lengthMs));
  const isRow = Math.abs(addBillingPeriods(startTime, period, count) - expirationTime) <= toleranceMs;
  const start = isRow ? addBillingPeriods(startTime, period, count - 1) : addBillingPeriods(expirationTime, period, -1);
  return start <= startTime + toleranceMs ? startTime : start;
}
