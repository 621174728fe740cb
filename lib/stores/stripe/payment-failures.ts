import type { Charge } from './payloads.ts';

/** When a payment failed, in epoch seconds. */
export interface FailureDates {
  readonly first: number;
  readonly last: number;
}

/**
 * Indexes the failures by charge id and payment intent id. `dates` has the dates of debits that failed days after their
 * creation.
 */
export function indexFailures(
  charges: readonly Charge[],
  dates: ReadonlyMap<string, number>,
): ReadonlyMap<string, FailureDates> {
  const index = new Map<string, FailureDates>();
  for (const { id, payment_intent, status, created } of charges) {
    const date = status === 'failed' ? (dates.get(id) ?? created) : null;
    if (date === null) continue;
    for (const key of [id, payment_intent]) {
      if (key === null) continue;
      const { first, last } = index.get(key) ?? { first: date, last: date };
      index.set(key, { first: Math.min(first, date), last: Math.max(last, date) });
    }
  }
  return index;
}
