import { addPeriod, type Period } from '../calendar.ts';
import { getPeriod } from './catalogue.ts';
import { advanceAnchor, buildRenewalOrder, getLatestOrder, getPeriodEnd } from './orders.ts';
import {
  buildSubscriptionNotification,
  requirePossible,
  requireSubscription,
  type SubscriptionEvent,
  type Transition,
  type TransitionContext,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';

/** Pays the next period: in time, or as soon as a failed payment succeeds. */
export function renew(purchase: Purchase, context: TransitionContext): Transition {
  const { state, awaitsRenewal } = requireSubscription(purchase);
  if (state === 'IN_GRACE_PERIOD' || state === 'ON_HOLD') return recover(purchase, context);
  const isDue = state === 'ACTIVE' || awaitsRenewal === true;
  requirePossible(isDue, purchase, `is ${state} and does not renew: it can only be bought again`);
  requirePossible(!needsPriceConsent(purchase), purchase, 'does not renew before its higher price is accepted');
  return withPeriod(purchase, context, 'RENEWED');
}

/** The payment that had failed succeeds: without a gap in the grace period, from now on in account hold. */
export function recover(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'IN_GRACE_PERIOD' || state === 'ON_HOLD', purchase, `is ${state}: no payment failed`);
  return withPeriod(purchase, context, state === 'ON_HOLD' ? 'RECOVERED' : 'RENEWED');
}

/** The customer ends the pause, or it ends by itself: a new period starts. */
export function resume(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'PAUSED', purchase, `is ${state}: it is not paused`);
  return withPeriod(purchase, context, 'RECOVERED');
}

/** Whether the renewal that comes next is one that the customer must have agreed to. */
export function needsPriceConsent(purchase: Purchase): boolean {
  const { priceChange, anchor } = requireSubscription(purchase);
  return priceChange?.state === 'OUTSTANDING' && getPeriodEnd(anchor) >= priceChange.chargeAt;
}

function withPeriod(purchase: Purchase, { at, product }: TransitionContext, event: SubscriptionEvent): Transition {
  const before = requireSubscription(purchase);
  const anchor = nextPeriod(before, getPeriod(product), at);
  const priceMicros = getNextPrice(purchase);
  const service = { start: addPeriod(anchor.date, anchor.period, anchor.periods - 1), end: getPeriodEnd(anchor) };
  const unpaid = getLatestOrder(purchase);
  const paid =
    unpaid.state === 'PENDING'
      ? withOrder(purchase, unpaid.id, { state: 'PROCESSED', changedAt: at, service })
      : {
          ...purchase,
          orders: [...purchase.orders, buildRenewalOrder(purchase, { at, state: 'PROCESSED', priceMicros, service })],
        };
  const { offerId: _used, ...subscription } = clearEndState(purchase);
  const renewed = withSubscription(
    { ...paid, subscription },
    { state: 'ACTIVE', phase: 'base', priceMicros, anchor, expiryTime: service.end, ...appliedPrice(before) },
  );
  return { purchase: renewed, notifications: [buildSubscriptionNotification(purchase, event)] };
}

/** After a hold or a pause, and when it is longer overdue than a period, the next one starts anew. */
function nextPeriod(before: Subscription, period: Period, at: number): Subscription['anchor'] {
  const anew = { date: at, period, periods: 1 };
  if (before.state === 'ON_HOLD' || before.state === 'PAUSED') return anew;
  const next = advanceAnchor(before, period);
  return getPeriodEnd(next) > at ? next : anew;
}

/** What the next period costs. */
export function getNextPrice(purchase: Purchase): number {
  const { priceMicros, priceChange } = requireSubscription(purchase);
  return priceChange?.state === 'CONFIRMED' ? priceChange.priceMicros : priceMicros;
}

const appliedPrice = ({ priceChange }: Subscription): Partial<Subscription> =>
  priceChange?.state === 'CONFIRMED' ? { priceChange: { ...priceChange, state: 'APPLIED' } } : {};

/** A subscription that goes on, without what an earlier end of it left. */
export function clearEndState(purchase: Purchase): Subscription {
  const {
    cancelled: _cancelled,
    awaitsRenewal: _awaits,
    holdEnds: _holdEnds,
    resumesAt: _resumesAt,
    ...kept
  } = requireSubscription(purchase);
  return { ...kept, autoRenew: true };
}
