import type { Millis } from '../../purchases/purchase.ts';
import type { ValidationRequest } from '../store.ts';

const dayMs = 86_400_000;

/** A period such as `P1M`: the only form in which applications tell of one. */
const periodPattern = /^P(\d{1,3})([DWMY])$/;

/** The length of a period as the client told it, such as `P3M`; undefined when it did not. */
export function parseBillingPeriod({ billingPeriod, billingPeriodUnit }: ValidationRequest): string | undefined {
  if (billingPeriodUnit === undefined || !Number.isInteger(billingPeriod)) return undefined;
  const period = `P${billingPeriod}${billingPeriodUnit[0]}`;
  return periodPattern.test(period) && billingPeriod !== 0 ? period : undefined;
}

interface Dates {
  readonly startTime: Millis;
  readonly expirationTime: Millis;
  readonly period?: string | undefined;
  /** The expiration at an earlier look. */
  readonly previousExpiration?: Millis | undefined;
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
}: Dates): Millis | undefined {
  if (period !== undefined) return estimateStartByPeriod(startTime, expirationTime, period);
  if (expirationTime - startTime <= minPeriodMs) return startTime;
  const isMoved = previousExpiration !== undefined && previousExpiration < expirationTime;
  return isMoved && previousExpiration > startTime ? previousExpiration : undefined;
}

/** Counted from the first start, so that a month of 31 days keeps its day; backwards where trial or gift moved the row. */
function estimateStartByPeriod(startTime: Millis, expirationTime: Millis, period: string): Millis {
  const lengthMs = Math.max(dayMs, addPeriods(0, period, 1));
  const toleranceMs = Math.min(4 * dayMs, lengthMs / 4);
  const count = Math.max(1, Math.round((expirationTime - startTime) / lengthMs));
  const isRow = Math.abs(addPeriods(startTime, period, count) - expirationTime) <= toleranceMs;
  const start = isRow ? addPeriods(startTime, period, count - 1) : addPeriods(expirationTime, period, -1);
  return start <= startTime + toleranceMs ? startTime : start;
}

function addPeriods(from: Millis, period: string, times: number): Millis {
  const [, digits = '1', unit = 'D'] = periodPattern.exec(period) ?? [];
  const count = Number(digits) * times;
  if (unit === 'D' || unit === 'W') return from + count * dayMs * (unit === 'W' ? 7 : 1);
  return addMonths(from, unit === 'Y' ? count * 12 : count);
}

function addMonths(from: Millis, months: number): Millis {
  const date = new Date(from);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime();
}
