import type { InvoiceShare } from './invoices.ts';
import { type Billing, isProration, listItemLines, maxGap, type Period } from './paid-periods.ts';
import type { Invoice, Price, Subscription } from './payloads.ts';
import { findUnitPrice, listWholeLines } from './plan-price.ts';
import { type BilledItem, getPriceId, type Line } from './subscription-items.ts';

/**
 * Returns the trial offer of an item. It has its own price, also 0.
 *
 * @see https://docs.stripe.com/billing/subscriptions/trials
 */
export function findTrialOffer({ current }: BilledItem, shares: readonly InvoiceShare[]): TrialOffer | undefined {
  const { current_trial: trial = null, price } = current ?? {};
  if (trial === null) return undefined;
  const { start_date: start, end_date: end } = trial;
  const isOfTrial = (line: Line): boolean => line.period.start >= start - maxGap && line.period.start < end;
  const lines = shares.flatMap(listItemLines).filter((line) => isOfTrial(line) && !isProration(line));
  const isFree = lines.length > 0 ? lines.every(({ amount }) => amount === 0) : price?.unit_amount === 0;
  return { start, end, isFree, isRunning: current !== undefined && end > current.current_period_start };
}

export interface TrialOffer extends Period {
  readonly isFree: boolean;
  /** The current period of the item is one of the trial. */
  readonly isRunning: boolean;
}

/**
 * Copies a subscription with the free trial of an item as its trial. The status is `trialing` only if all items have a
 * free one. A subscription with trial offers cannot have its own trial.
 */
export function withItemTrial(subscription: Subscription, offer: TrialOffer | undefined): Subscription {
  if (!offer?.isFree) return subscription;
  const status = offer.isRunning && subscription.status === 'active' ? 'trialing' : subscription.status;
  return { ...subscription, status, trial_start: offer.start, trial_end: offer.end };
}

/** The billing is for a period of a trial offer with a price. */
export const isPaidTrial = ({ period }: Billing, offer: TrialOffer | undefined): boolean =>
  offer?.isFree === false && period !== undefined && period.start >= offer.start - maxGap && period.start < offer.end;

interface TrialContext {
  readonly subscription: Subscription;
  /** All billings of the item. */
  readonly billings: readonly Billing[];
  /** Prices of `listTrialPriceIds` by id. */
  readonly prices: ReadonlyMap<string, Price> | undefined;
}

/**
 * Finds the end of a free trial of an item in epoch seconds. Undefined for any other billing. The subscription has the
 * dates of its latest trial, which can be moved. An earlier trial is a free period of a price that is not free, and
 * ends with the next period. Other lines of its invoice can have a price.
 *
 * @see https://docs.stripe.com/billing/subscriptions/trials
 */
export function findTrialEnd({ kind, line, share }: Billing, context: TrialContext): number | undefined {
  const { subscription, billings, prices } = context;
  const { trial_start: latestStart, trial_end: latestEnd } = subscription;
  if (kind === 'extra' || line?.amount !== 0 || latestEnd === null || line.period.start >= latestEnd) return undefined;
  const { start, end } = line.period;
  const next = findNextStart(start, billings) ?? Infinity;
  if (latestStart === null || start >= latestStart - maxGap) return Math.min(next, latestEnd);
  const price = prices?.get(getPriceId(line)) ?? share.item.current?.price;
  const unit = findUnitPrice(line, listWholeLines(billings), { price, currency: price?.currency ?? '' });
  if (line.quantity === 0 || !unit || unit.amount === 0) return undefined;
  return next <= latestStart ? next : end;
}

/**
 * Finds the end of the free time with which the latest trial extends a period, in epoch seconds. Stripe bills nothing
 * for it.
 */
export function findGrantedEnd(
  { end }: Period,
  { trial_start, trial_end, ended_at }: Subscription,
): number | undefined {
  if (trial_start === null || trial_end === null || trial_start > end + maxGap) return undefined;
  const grantedEnd = Math.min(trial_end, ended_at ?? Number.POSITIVE_INFINITY);
  return grantedEnd > end ? grantedEnd : undefined;
}

/** Lists the prices of free periods before the latest trial that are neither current nor billed. */
export function listTrialPriceIds({ trial_start, items }: Subscription, invoices: readonly Invoice[]): string[] {
  const lines = invoices.flatMap((invoice) => invoice.lines.data);
  const known = [
    ...items.data.map(({ price }) => price.id),
    ...lines.filter(({ amount }) => amount > 0).map(getPriceId),
  ];
  const free = lines.filter(
    ({ amount, quantity, period }) => amount === 0 && quantity !== 0 && period.start < (trial_start ?? 0),
  );
  return [...new Set(free.map(getPriceId))].filter((id) => id !== '' && !known.includes(id));
}

/** Finds the start of the first period after a time, paid or not. */
function findNextStart(time: number, billings: readonly Billing[]): number | undefined {
  const starts = billings.flatMap(({ period }) => (period && period.start > time ? period.start : []));
  return starts.length > 0 ? Math.min(...starts) : undefined;
}
