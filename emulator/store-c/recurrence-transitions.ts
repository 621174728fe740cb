import { addPeriod, dayMs, hourMs, type Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { refundLatestPayment, withPayment } from './payments.ts';
import type { Product, Purchase, Recurrence } from './records.ts';

/** The state of a recurrence follows its dates so much later. */
const stateLagMs = 3 * hourMs;

/** The subscription of a purchase; refuses a purchase that is none. */
function requireRecurrence({ id, recurrence }: Purchase): Recurrence {
  if (recurrence === undefined) throw controlError(422, `${id} is not a subscription.`);
  return recurrence;
}

const requirePossible = (isPossible: boolean, { id }: Purchase, problem: string): void => {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
};

const withRecurrence = (purchase: Purchase, patch: Partial<Recurrence>, at: number): Purchase => ({
  ...purchase,
  recurrence: { ...requireRecurrence(purchase), ...patch, lastModified: at },
});

/** A subscription from its first period on, which a trial makes free. */
export function createRecurrence(
  at: number,
  period: Period,
  terms: { isTrial: boolean; renewsAutomatically: boolean },
): Recurrence {
  const anchor = { date: at, period, periods: 1 };
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

/** The next period is paid, in time or while the payment of it was being retried. */
export function renew(purchase: Purchase, at: number, { period = 'P1M' }: Product): Purchase {
  const { state, autoRenew, anchor, expirationTime } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is ${state}: it can only be bought again`);
  requirePossible(autoRenew, purchase, 'was cancelled and does not renew');
  const next =
    anchor.period === period
      ? { ...anchor, periods: anchor.periods + 1 }
      : { date: expirationTime, period, periods: 1 };
  const paid = withPayment(purchase, at, 1);
  return withRecurrence(paid, { state: 'Active', isTrial: false, ...computeExpiration(next), anchor: next }, at);
}

/** The payment that had failed succeeds. */
export function recover(purchase: Purchase, at: number, product: Product): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state === 'InDunning', purchase, `is ${state}: no payment failed`);
  return renew(purchase, at, product);
}

/** The customer switches the renewal off; while a payment is being retried that ends the subscription. */
export function cancelRenewal(purchase: Purchase, at: number): Purchase {
  const { state, autoRenew } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is ${state} already`);
  requirePossible(autoRenew, purchase, 'was cancelled already');
  const cancelled = withRecurrence(purchase, { autoRenew: false, cancellationDate: at }, at);
  return state === 'InDunning' ? endRecurrence(cancelled, 'Inactive', at) : cancelled;
}

/** The customer switches the renewal on again, before the end. */
export function resumeRenewal(purchase: Purchase, at: number): Purchase {
  const { state, autoRenew, expirationTime } = requireRecurrence(purchase);
  requirePossible(state === 'Active' && expirationTime > at, purchase, 'has ended: it can only be bought again');
  requirePossible(!autoRenew, purchase, 'was not cancelled');
  const { cancellationDate: _taken, ...recurrence } = requireRecurrence(purchase);
  return withRecurrence({ ...purchase, recurrence }, { autoRenew: true }, at);
}

/** The payment for the next period fails: dunning with access begins, or nothing but the end when `grace` is false. */
export function failPayment(purchase: Purchase, at: number, grace = true): Purchase {
  const { state, autoRenew, expirationTimeWithGrace } = requireRecurrence(purchase);
  if (state === 'InDunning') return endRecurrence(purchase, 'Failed', at);
  requirePossible(
    state === 'Active' && autoRenew,
    purchase,
    `is ${state}${autoRenew ? '' : ' but cancelled'}: no payment is due`,
  );
  if (!grace || expirationTimeWithGrace <= at) return endRecurrence(purchase, 'Failed', at);
  return withRecurrence(purchase, { state: 'InDunning' }, at);
}

/** The subscription ends now, for the reason that its state gives. */
export function expire(purchase: Purchase, at: number): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state === 'Active' || state === 'InDunning', purchase, `is ${state} already`);
  return endRecurrence(purchase, state === 'InDunning' ? 'Failed' : 'Inactive', at);
}

/** The store takes the subscription away, with the money paid back or not. */
export function terminate(purchase: Purchase, at: number, isRefunded: boolean): Purchase {
  const { state } = requireRecurrence(purchase);
  requirePossible(state !== 'Canceled', purchase, 'is Canceled already');
  const paidBack = isRefunded ? refundLatestPayment(purchase, at, 'Refunded') : purchase;
  const item = { ...paidBack.item, status: 'Revoked' as const, modifiedDate: at };
  return withRecurrence({ ...paidBack, item }, { state: 'Canceled', autoRenew: false, cancellationDate: at }, at);
}

/** The developer gives more time. */
export function extend(purchase: Purchase, at: number, days: number): Purchase {
  const { state, expirationTime, expirationTimeWithGrace } = requireRecurrence(purchase);
  requirePossible(state === 'Active', purchase, `is ${state}: it cannot be extended`);
  const longer = expirationTime + days * dayMs;
  const anchor = { ...requireRecurrence(purchase).anchor, date: longer, periods: 0 };
  return withRecurrence(
    purchase,
    { expirationTime: longer, expirationTimeWithGrace: expirationTimeWithGrace + days * dayMs, anchor },
    at,
  );
}

/** When something happens to a subscription by itself. */
export function getNextDueTime({ recurrence }: Purchase): number | undefined {
  if (recurrence === undefined) return undefined;
  const { state, autoRenew, renewsAutomatically, expirationTime, expirationTimeWithGrace } = recurrence;
  if (state === 'InDunning') return expirationTimeWithGrace;
  if (state !== 'Active') return undefined;
  return autoRenew && renewsAutomatically ? expirationTime : expirationTime + stateLagMs;
}

/** What happens by itself at that moment. */
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

function computeExpiration({
  date,
  period,
  periods,
}: Recurrence['anchor']): Pick<Recurrence, 'expirationTime' | 'expirationTimeWithGrace'> {
  const expirationTime = addPeriod(date, period, periods);
  const periodMs = addPeriod(0, period);
  const graceMs = Math.min(14 * dayMs, Math.floor(periodMs / 2));
  return { expirationTime, expirationTimeWithGrace: expirationTime + graceMs };
}
