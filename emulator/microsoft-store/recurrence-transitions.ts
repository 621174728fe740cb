import { advanceAnchor, type BillingAnchor, createAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, dayMs, hourMs, type Period } from '../calendar.ts';
import type { Product } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { withPayment } from './payments.ts';
import type { Purchase, Recurrence } from './records.ts';

/** Delay of the state of a recurrence after its dates. */
const stateLagMs = 3 * hourMs;

/** Returns the recurrence of a purchase. Throws 422 for a one-time purchase. */
const requireRecurrence = ({ id, recurrence }: Purchase): Recurrence =>
  requireSubscription({ id, ...(recurrence && { subscription: recurrence }) });

const withRecurrence = (purchase: Purchase, patch: Partial<Recurrence>, at: number): Purchase => ({
  ...purchase,
  recurrence: { ...requireRecurrence(purchase), ...patch, lastModified: at },
});

/** Creates a recurrence in its first period, which can be a free trial. */
export function createRecurrence(
  at: number,
  period: Period,
  terms: { isTrial: boolean; renewsAutomatically: boolean },
): Recurrence {
  const anchor = createAnchor(at, period);
  return {
    ...terms,
    state: 'Active',
    autoRenew: true,
    startTime: at,
    ...computeExpiration(anchor),
    lastModified: at,
    anchor,
  };
}

/** Pays the next period, on time or during dunning. */
export function renew(purchase: Purchase, at: number, { period = 'P1M', priceMicros }: Product): Purchase {
  const { state, autoRenew, anchor } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is ${state} and does not renew`);
  requirePossible(autoRenew, purchase, 'is canceled and does not renew');
  const next = advanceAnchor(anchor, period);
  const paid = withPayment(purchase, at, { quantity: 1, priceMicros, periodStart: getPeriodEnd(anchor) });
  return withRecurrence(paid, { state: 'Active', isTrial: false, ...computeExpiration(next), anchor: next }, at);
}

/** Pays a failed renewal. */
export function recover(purchase: Purchase, at: number, product: Product): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state === 'InDunning', purchase, `is ${state}: no payment failed`);
  return renew(purchase, at, product);
}

/** Turns automatic renewal off. During dunning this ends the subscription. */
export function cancelRenewal(purchase: Purchase, at: number): Purchase {
  const { state, autoRenew } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is already ${state}`);
  requirePossible(autoRenew, purchase, 'is already canceled');
  const canceled = withRecurrence(purchase, { autoRenew: false, cancellationDate: at }, at);
  return state === 'InDunning' ? endRecurrence(canceled, 'Inactive', at) : canceled;
}

/** Turns automatic renewal on again before the end of the period. */
export function resumeRenewal(purchase: Purchase, at: number): Purchase {
  const { state, autoRenew, expirationTime } = requireRecurrence(purchase);
  requirePossible(state === 'Active' && expirationTime > at, purchase, 'has ended');
  requirePossible(!autoRenew, purchase, 'is not canceled');
  const { cancellationDate: _reverted, ...recurrence } = requireRecurrence(purchase);
  return withRecurrence({ ...purchase, recurrence }, { autoRenew: true }, at);
}

/** Fails the payment for the next period. Starts dunning with access, or ends the subscription if `grace` is false. */
export function failPayment(purchase: Purchase, at: number, grace = true): Purchase {
  const { state, autoRenew, expirationTimeWithGrace } = requireRecurrence(purchase);
  if (state === 'InDunning') return endRecurrence(purchase, 'Failed', at);
  requirePossible(
    state === 'Active' && autoRenew,
    purchase,
    `is ${state}${autoRenew ? '' : ' but canceled'}: no payment is due`,
  );
  if (!grace || expirationTimeWithGrace <= at) return endRecurrence(purchase, 'Failed', at);
  return withRecurrence(purchase, { state: 'InDunning' }, at);
}

/** Ends the subscription now. The state determines the final state: `Failed` or `Inactive`. */
export function expire(purchase: Purchase, at: number): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is already ${state}`);
  return endRecurrence(purchase, state === 'InDunning' ? 'Failed' : 'Inactive', at);
}

/** Cancels the subscription immediately. */
export function terminate(purchase: Purchase, at: number): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state !== 'Canceled', purchase, 'is already Canceled');
  const item = { ...purchase.item, status: 'Revoked' as const, modifiedDate: at };
  return withRecurrence({ ...purchase, item }, { state: 'Canceled', autoRenew: false, cancellationDate: at }, at);
}

/** Extends the current period. */
export function extend(purchase: Purchase, at: number, days: number): Purchase {
  const { state, expirationTime, expirationTimeWithGrace } = requireRecurrence(purchase);
  requirePossible(state === 'Active', purchase, `is ${state} and cannot be extended`);
  const extended = expirationTime + days * dayMs;
  const anchor = { ...requireRecurrence(purchase).anchor, date: extended, periods: 0 };
  return withRecurrence(
    purchase,
    { expirationTime: extended, expirationTimeWithGrace: expirationTimeWithGrace + days * dayMs, anchor },
    at,
  );
}

/** Returns the time of the next scheduled transition of a subscription. */
export function getNextDueTime({ recurrence }: Purchase): number | undefined {
  if (recurrence === undefined) return undefined;
  const { state, autoRenew, renewsAutomatically, expirationTime, expirationTimeWithGrace } = recurrence;
  if (state === 'InDunning') return expirationTimeWithGrace;
  if (state !== 'Active') return undefined;
  return autoRenew && renewsAutomatically ? expirationTime : expirationTime + stateLagMs;
}

/** Runs the scheduled transition of a subscription that is due. */
export function runDueTransition(purchase: Purchase, at: number, product: Product): Purchase {
  const { state, autoRenew, renewsAutomatically } = requireRecurrence(purchase);
  return state === 'Active' && autoRenew && renewsAutomatically ? renew(purchase, at, product) : expire(purchase, at);
}

function endRecurrence(purchase: Purchase, state: 'Inactive' | 'Failed', at: number): Purchase {
  const { expirationTime, expirationTimeWithGrace } = requireRecurrence(purchase);
  const end = Math.min(expirationTime, at);
  const graceEnd = state === 'Failed' ? Math.min(expirationTimeWithGrace, Math.max(at, end)) : end;
  return withRecurrence(
    purchase,
    { state, autoRenew: false, expirationTime: end, expirationTimeWithGrace: graceEnd },
    at,
  );
}

function computeExpiration(anchor: BillingAnchor): Pick<Recurrence, 'expirationTime' | 'expirationTimeWithGrace'> {
  const expirationTime = getPeriodEnd(anchor);
  const periodMs = addPeriod(0, anchor.period);
  const graceMs = Math.min(14 * dayMs, Math.floor(periodMs / 2));
  return { expirationTime, expirationTimeWithGrace: expirationTime + graceMs };
}
