import { advanceAnchor, type BillingAnchor, createAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, type Period } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { type ActionBody, pickPrice } from '../purchase-order.ts';
import { getPeriod } from './catalogue.ts';
import { hasDeclinedItems, recoverItems } from './declined-items.ts';
import { payInstallment } from './installments.ts';
import { buildRenewalOrder, getLatestOrder } from './orders.ts';
import {
  buildSubscriptionNotification,
  type SubscriptionEvent,
  type Transition,
  type TransitionContext,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';
import { findDeferredItem, listNextLines, renewItems, withDeferredPlan } from './subscription-items.ts';

/**
 * Pays the next period: a renewal, or a recovery after a failed payment. The price is converted if the country of the
 * customer has changed its currency.
 */
export function renew(present: Purchase, context: TransitionContext, details: ActionBody = {}): Transition {
  const purchase = withSubscription(present, pickPrice(details));
  const { state, awaitsRenewal, isPrepaid } = requireSubscription(purchase);
  if (state === 'IN_GRACE_PERIOD' || state === 'ON_HOLD') return recover(purchase, context);
  const isDue = state === 'ACTIVE' || awaitsRenewal === true;
  requirePossible(isDue && !isPrepaid, purchase, `is ${state} and does not renew`);
  requirePossible(!needsPriceConsent(purchase), purchase, 'cannot renew until the price increase is accepted');
  return withPeriod(purchase, context, 'RENEWED');
}

/** Pays a failed renewal. In the grace period the next period follows without a gap, in account hold it starts now. */
export function recover(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'IN_GRACE_PERIOD' || state === 'ON_HOLD', purchase, `is ${state}: no payment failed`);
  if (hasDeclinedItems(purchase)) return recoverItems(purchase, context.at);
  return withPeriod(purchase, context, state === 'ON_HOLD' ? 'RECOVERED' : 'RENEWED');
}

/** Ends a pause, early or as scheduled. A new period starts. */
export function resume(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'PAUSED', purchase, `is ${state} and not paused`);
  return withPeriod(purchase, context, 'RECOVERED');
}

/** The next renewal requires the customer's consent to a price increase. */
export function needsPriceConsent(purchase: Purchase): boolean {
  const { priceChange, anchor } = requireSubscription(purchase);
  return priceChange?.state === 'OUTSTANDING' && getPeriodEnd(anchor) >= priceChange.chargeAt;
}

function withPeriod(present: Purchase, { at, product }: TransitionContext, event: SubscriptionEvent): Transition {
  const current = requireSubscription(present);
  const anchor = computeNextAnchor(current, findDeferredItem(current)?.deferredPeriod ?? getPeriod(product), at);
  const purchase = withDeferredPlan(present);
  const priceMicros = getNextPrice(purchase);
  const service = { start: addPeriod(anchor.date, anchor.period, anchor.periods - 1), end: getPeriodEnd(anchor) };
  const paid = payOrder(purchase, { at, priceMicros, service });
  const { offerId: _used, ...subscription } = omitEndState(purchase);
  const items = renewItems(current, getLatestOrder(paid));
  const renewed = withSubscription(
    { ...paid, subscription },
    {
      state: 'ACTIVE',
      phase: 'base',
      priceMicros,
      anchor,
      expiryTime: service.end,
      ...items,
      ...applyPriceChange(current),
      ...payInstallment(current),
    },
  );
  const notifications = [buildSubscriptionNotification(purchase, event)];
  const isCanceled = requireSubscription(renewed).state === 'CANCELED';
  if (isCanceled) notifications.push(buildSubscriptionNotification(purchase, 'CANCELED'));
  return { purchase: renewed, notifications };
}

interface PaidPeriod {
  readonly at: number;
  readonly priceMicros: number;
  readonly service: { readonly start: number; readonly end: number };
}

/** Pays the pending order, or a new one. */
function payOrder(purchase: Purchase, { at, priceMicros, service }: PaidPeriod): Purchase {
  const unpaid = getLatestOrder(purchase);
  if (unpaid.state === 'PENDING')
    return withOrder(purchase, unpaid.id, { state: 'PROCESSED', changedAt: at, processedAt: at, service });
  const lines = listNextLines(purchase, priceMicros);
  const order = buildRenewalOrder(purchase, {
    at,
    state: 'PROCESSED',
    priceMicros,
    service,
    ...(lines && { lines }),
  });
  return { ...purchase, orders: [...purchase.orders, order] };
}

/** Continues the series of periods. After account hold, a pause or more than one missed period a new series starts. */
function computeNextAnchor({ state, anchor }: Subscription, period: Period, at: number): BillingAnchor {
  if (state === 'ON_HOLD' || state === 'PAUSED') return createAnchor(at, period);
  const next = advanceAnchor(anchor, period);
  return getPeriodEnd(next) > at ? next : createAnchor(at, period);
}

/** Returns the price of the next period. */
export function getNextPrice(purchase: Purchase): number {
  const { priceMicros, priceChange } = requireSubscription(purchase);
  return priceChange?.state === 'CONFIRMED' ? priceChange.priceMicros : priceMicros;
}

const applyPriceChange = ({ priceChange }: Subscription): Partial<Subscription> =>
  priceChange?.state === 'CONFIRMED' ? { priceChange: { ...priceChange, state: 'APPLIED' } } : {};

/** Returns an active subscription without the members of an earlier end, hold or pause. */
export function omitEndState(purchase: Purchase): Subscription {
  const {
    cancellation: _cancellation,
    awaitsRenewal: _awaits,
    holdEnds: _holdEnds,
    retriesUntil: _retriesUntil,
    resumesAt: _resumesAt,
    heldMs: _heldMs,
    ...subscription
  } = requireSubscription(purchase);
  return { ...subscription, autoRenew: true };
}
