import { dayMs, floorToSecond } from '../calendar.ts';
import { type AppliedOffer, advanceAnchor, buildPeriodTransaction, type PaidPeriod } from './billing-period.ts';
import {
  buildNotificationType,
  getPaidUntil,
  getPeriod,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withTransaction,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Subscription } from './records.ts';

/** Pays the next period: at the end of the current one, late while payment failed, or anew after it expired. */
export function renew(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  if (state === 'ACTIVE') return renewInTime(purchase, context);
  if (state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY') return recover(purchase, context);
  return resubscribe(purchase, context);
}

/** The payment that had failed succeeds: without a gap in a grace period, from now on after it. */
export function recover(purchase: Purchase, context: TransitionContext): Transition {
  const { state, willRenew } = requireSubscription(purchase);
  requirePossible(
    state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY',
    purchase,
    `is ${state}: no payment failed`,
  );
  requirePossible(willRenew, purchase, 'was cancelled');
  const start = state === 'BILLING_GRACE_PERIOD' ? getPaidUntil(purchase) : floorToSecond(context.at);
  return {
    purchase: withPeriod(purchase, { start, reason: 'RENEWAL' }, context),
    notifications: [buildNotificationType('DID_RENEW', 'BILLING_RECOVERY')],
  };
}

/** The customer buys an ended subscription again; it keeps its original transaction id. */
export function resubscribe(purchase: Purchase, context: TransitionContext, offer?: AppliedOffer): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'EXPIRED' || state === 'REVOKED', purchase, `is ${state}: it has not ended`);
  return {
    purchase: withPeriod(purchase, { start: floorToSecond(context.at), reason: 'PURCHASE', offer }, context),
    notifications: [buildNotificationType('SUBSCRIBED', 'RESUBSCRIBE')],
  };
}

function renewInTime(purchase: Purchase, context: TransitionContext): Transition {
  const { willRenew, priceIncrease } = requireSubscription(purchase);
  requirePossible(willRenew, purchase, 'was cancelled and does not renew');
  requirePossible(priceIncrease?.accepted !== false, purchase, 'does not renew before its higher price is accepted');
  return {
    purchase: withPeriod(purchase, { start: getPaidUntil(purchase), reason: 'RENEWAL' }, context),
    notifications: [buildNotificationType('DID_RENEW')],
  };
}

type NextPeriod = Pick<PaidPeriod, 'start' | 'reason' | 'offer'>;

function withPeriod(purchase: Purchase, next: NextPeriod, context: TransitionContext): Purchase {
  const before = requireSubscription(purchase);
  const offer = next.offer ?? (next.reason === 'RENEWAL' ? before.comingOffer : undefined);
  const period = offer?.period ?? getPeriod(context.product(before.renewal.productId));
  const priceMicros = before.priceIncrease?.accepted ? before.priceIncrease.priceMicros : before.renewal.priceMicros;
  const subscription: Subscription = {
    state: 'ACTIVE',
    willRenew: true,
    renewsAutomatically: before.renewsAutomatically,
    renewal: { ...before.renewal, priceMicros },
    anchor: advanceAnchor(before.anchor, period, next.start),
    recentStart: next.start - getPaidUntil(purchase) < 60 * dayMs ? before.recentStart : next.start,
  };
  const { anchor, renewal: price } = subscription;
  const transaction = buildPeriodTransaction(
    { ...next, offer, anchor, price, quantity: getLatestTransaction(purchase).quantity },
    context,
  );
  return { ...withTransaction(purchase, transaction), subscription };
}
