import { dayMs, type EpochMillis } from '../shared/time.ts';
import type { ValidationRequest } from './store.ts';

const unitLetters = { Day: 'D', Week: 'W', Month: 'M', Year: 'Y' } as const;
const maxCount = 1000;
const periodPattern = /^P(\d{1,4})([DWMY])$/;

/** Converts the request's billing period to an ISO 8601 duration such as `P3M`. Returns undefined if it is missing or invalid. */
export function parseBillingPeriod({ billingPeriod, billingPeriodUnit }: ValidationRequest): string | undefined {
  if (billingPeriod === undefined || billingPeriodUnit === undefined) return undefined;
  const isValid = Number.isInteger(billingPeriod) && billingPeriod > 0 && billingPeriod <= maxCount;
  return isValid ? `P${billingPeriod}${unitLetters[billingPeriodUnit]}` : undefined;
}

/** Adds `times` ISO 8601 durations of one unit, in UTC. A day beyond the end of the month becomes its last day. */
export function addBillingPeriods(start: EpochMillis, period: string, times = 1): EpochMillis {
  const [, digits = '0', unit] = periodPattern.exec(period) ?? [];
  const count = Number(digits) * times;
  if (unit === 'D' || unit === 'W') return start + count * (unit === 'W' ? 7 : 1) * dayMs;
  return addMonths(start, unit === 'Y' ? count * 12 : count);
}

function addMonths(start: EpochMillis, months: number): EpochMillis {
  const date = new Date(start);
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return new Date(start).setUTCFullYear(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
}
