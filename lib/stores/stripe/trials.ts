import type { Billing } from './paid-periods.ts';
import type { Subscription } from './payloads.ts';
import { findUnitPrice, listWholeLines } from './plan-price.ts';

interface TrialContext {
  readonly subscription: Subscription;
  /** All billings of the item. */
  readonly billings: readonly Billing[];
}

/**
 * Finds the end of a free trial of an item in epoch seconds. Undefined for any other billing. The subscription has the
 * dates of its latest trial, which can be moved. An earlier trial is a free period of a price that is not free, and
 * ends with the next period. Other lines of its invoice can have a price.
 *
 * @see https://docs.stripe.com/billing/subscriptions/trials
 */
export function findTrialEnd({ kind, line, share }: Billing, context: TrialContext): number | undefined {
  const { subscription, billings } = context;
  const { trial_start: latestStart, trial_end: latestEnd } = subscription;
  if (kind !== 'period' || line?.amount !== 0 || latestEnd === null || line.period.start >= latestEnd) return undefined;
  const { start, end } = line.period;
  const next = findNextStart(start, billings) ?? Infinity;
  if (latestStart === null || Math.min(next, end) > latestStart) return Math.min(next, latestEnd);
  const price = findUnitPrice(line, listWholeLines(billings), share.item.current?.price);
  if (line.quantity === 0 || !price || price.amount === 0) return undefined;
  return next <= latestStart ? next : end;
}

/** Finds the start of the first period after a time, paid or not. */
function findNextStart(time: number, billings: readonly Billing[]): number | undefined {
  const starts = billings.flatMap(({ period }) => (period && period.start > time ? period.start : []));
  return starts.length > 0 ? Math.min(...starts) : undefined;
}
