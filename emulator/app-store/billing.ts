import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import {
  buildNotificationType,
  getPaidUntil,
  type NotificationType,
  type Transition,
  type TransitionContext,
  withEndAt,
  withSubscriptionState,
} from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';
import { renew } from './renewal.ts';

/**
 * Apple retries a failed renewal for up to 60 days.
 *
 * @see https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions/
 */
const billingRetryMs = 60 * dayMs;

/**
 * Apple retries the failed renewal of a commitment plan for up to 90 days, without a grace period.
 *
 * @see https://developer.apple.com/documentation/storekit/managing-lifecycle-of-monthly-subscriptions-with-a-12-month-commitment-
 */
const commitmentRetryMs = 90 * dayMs;

const expiredSubtypes = { 1: 'VOLUNTARY', 2: 'BILLING_RETRY', 3: 'PRICE_INCREASE', 5: undefined } as const;

/** Returns the time of the next scheduled transition. A period, a grace period or a billing retry ends then. */
export function getNextDueTime(purchase: Purchase): number | undefined {
  switch (purchase.subscription?.state) {
    case 'ACTIVE':
      return getPaidUntil(purchase);
    case 'BILLING_GRACE_PERIOD':
      return purchase.subscription.graceUntil;
    case 'BILLING_RETRY':
      return getPaidUntil(purchase) + (purchase.subscription.commitment ? commitmentRetryMs : billingRetryMs);
    default:
      return undefined;
  }
}

/** Returns the scheduled transition of a purchase that is due. */
export function getDueTransition(purchase: Purchase): (purchase: Purchase, context: TransitionContext) => Transition {
  const { state, willRenew, renewsAutomatically, priceIncrease } = requireSubscription(purchase);
  if (state === 'BILLING_GRACE_PERIOD' && willRenew) return endGrace;
  const renews = state === 'ACTIVE' && willRenew && renewsAutomatically && priceIncrease?.accepted !== false;
  return renews ? renew : expire;
}

/**
 * Fails the payment for the next period. Starts a grace period with access, or billing retry if `grace` is false. A
 * failure in the grace period ends the grace period. A subscription that expired unrenewed is treated as failed at its
 * end.
 */
export function failPayment(
  purchase: Purchase,
  context: TransitionContext,
  { grace = true, period: gracePeriod = 'P16D' }: Pick<ActionBody, 'grace' | 'period'>,
): Transition {
  const { state, willRenew, expirationIntent, anchor, commitment } = requireSubscription(purchase);
  if (state === 'BILLING_GRACE_PERIOD') return endGrace(purchase, context);
  const isDue = (state === 'ACTIVE' && willRenew) || (state === 'EXPIRED' && expirationIntent === 5);
  requirePossible(isDue, purchase, `is ${state}${state === 'ACTIVE' ? ' but canceled' : ''}: no payment is due`);
  requirePossible(
    gracePeriods.includes(gracePeriod),
    purchase,
    `can have a grace period of ${gracePeriods.join(', ')}`,
  );
  const graceUntil = getPaidUntil(purchase) + getGraceMs(anchor.period, gracePeriod);
  if (!grace || commitment || graceUntil <= context.at) {
    return {
      purchase: startBillingRetry(purchase, context),
      notifications: [buildNotificationType('DID_FAIL_TO_RENEW')],
    };
  }
  return {
    purchase: withSubscriptionState(purchase, { state: 'BILLING_GRACE_PERIOD', willRenew: true, graceUntil }),
    notifications: [buildNotificationType('DID_FAIL_TO_RENEW', 'GRACE_PERIOD')],
  };
}

/** Ends the subscription now. Its state determines the expiration intent. */
export function expire(purchase: Purchase, context: TransitionContext): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state !== 'EXPIRED' && state !== 'REVOKED', purchase, `is ${state} already`);
  const expirationIntent = toExpirationIntent(requireSubscription(purchase));
  return {
    purchase: withSubscriptionState(withEndAt(purchase, context.at), {
      state: 'EXPIRED',
      willRenew: false,
      expirationIntent,
    }),
    notifications: [buildNotificationType('EXPIRED', expiredSubtypes[expirationIntent])],
  };
}

function endGrace(purchase: Purchase, context: TransitionContext): Transition {
  const { graceUntil = context.at } = requireSubscription(purchase);
  const notifications: NotificationType[] = [buildNotificationType('GRACE_PERIOD_EXPIRED')];
  return { purchase: startBillingRetry(purchase, context, Math.min(graceUntil, context.at)), notifications };
}

const startBillingRetry = (purchase: Purchase, context: TransitionContext, graceUntil?: number): Purchase =>
  withSubscriptionState(withEndAt(purchase, context.at), {
    state: 'BILLING_RETRY',
    willRenew: true,
    expirationIntent: 2,
    ...(graceUntil !== undefined && { graceUntil }),
  });

function toExpirationIntent({ state, willRenew, priceIncrease }: Subscription): 1 | 2 | 3 | 5 {
  if (!willRenew) return 1;
  if (state !== 'ACTIVE') return 2;
  return priceIncrease?.accepted === false ? 3 : 5;
}

/**
 * Grace periods that a developer can choose.
 *
 * @see https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions/
 */
const gracePeriods: readonly Period[] = ['P3D', 'P16D', 'P28D'];

/** Returns the chosen grace period, at most 6 days for periods of up to one week. Never exceeds the period. */
function getGraceMs(period: Period, gracePeriod: Period): number {
  const periodMs = addPeriod(0, period);
  const graceMs = addPeriod(0, gracePeriod);
  return periodMs > 7 * dayMs ? Math.min(graceMs, periodMs) : Math.min(graceMs, 6 * dayMs, periodMs);
}
