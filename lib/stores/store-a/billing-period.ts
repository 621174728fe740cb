import type { Millis } from '../../purchases/purchase.ts';
import type { ValidationRequest } from '../store.ts';

const unitLetters = { Day: 'D', Week: 'W', Month: 'M', Year: 'Y' } as const;
const maxCount = 1000;

/** The length that the request gives to its product, as an ISO 8601 duration; undefined when it gives none. */
export function parseBillingPeriod({
  billingPeriod: count,
  billingPeriodUnit: unit,
}: ValidationRequest): string | undefined {
  if (count === undefined || unit === undefined) return undefined;
  return Number.isInteger(count) && count > 0 && count <= maxCount ? `P${count}${unitLetters[unit]}` : undefined;
}

/** The moment so much later, by the calendar in UTC; the last day of a month where the day does not exist. */
export function addPeriod(start: Millis, period: string): Millis {
  const [, digits = '0', unit] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  const count = Number(digits);
  if (unit === 'D' || unit === 'W') return start + count * (unit === 'W' ? 7 : 1) * 86_400_000;
  const date = new Date(start);
  const months = date.getUTCMonth() + count * (unit === 'Y' ? 12 : 1);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0)).getUTCDate();
  return new Date(start).setUTCFullYear(date.getUTCFullYear(), months, Math.min(date.getUTCDate(), lastDay));
}
