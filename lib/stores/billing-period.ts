import type { BillingPeriod } from '../foundation/billing-period.ts';
import type { ValidationRequest } from './store.ts';

const unitLetters = { Day: 'D', Week: 'W', Month: 'M', Year: 'Y' } as const;
const maxCount = 1000;

/**
 * Converts the request's billing period to an ISO 8601 duration such as `P3M`. Returns undefined if it is missing or
 * invalid.
 */
export function parseBillingPeriod({
  billingPeriod,
  billingPeriodUnit,
}: Pick<ValidationRequest, 'billingPeriod' | 'billingPeriodUnit'>): BillingPeriod | undefined {
  if (billingPeriod === undefined || billingPeriodUnit === undefined) return undefined;
  const isValid = Number.isInteger(billingPeriod) && billingPeriod > 0 && billingPeriod <= maxCount;
  return isValid ? `P${billingPeriod}${unitLetters[billingPeriodUnit]}` : undefined;
}
