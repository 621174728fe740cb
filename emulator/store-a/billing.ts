import { addPeriod, dayMs, type Period } from '../calendar.ts';
import {
  buildNotificationType,
  getPaidUntil,
  type NotificationType,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withEndAt,
  withSubscriptionState,
} from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';
import { renew } from './renewal.ts';

/** The store gives up collecting a payment after so long. */
const billingRetryMs = 60 * dayMs;

const expiredSubtypes = { 1: 'VOLUNTARY', 2: 'BILLING_RETRY', 3: 'PRICE_INCREASE', 5: undefined } as const;

/** When something happens to the purchase by itself: a period, a grace period or the retrying of a payment ends. */
export function getNextDueTime(purchase: Purchase): number | undefined {
  switch (purchase.subscription?.state) {
    case 'ACTIVE':
      return getPaidUntil(purchase);
    case 'BILLING_GRACE_PERIOD':
      return purchase.subscription.graceUntil;
    case 'BILLING_RETRY':
      return getPaidUntil(purchase) + billingRetryMs;
    default:
      return undefined;
  }
}

/** What happens by itself at that moment. */
export function getDueTransition(purchase: Purchase): (purchase: Purchase, context: TransitionContext) => Transition {
  const { state, willRenew, renewsAutomatically, priceIncrease } = requireSubscription(purchase);
  if (state === 'BILLING_GRACE_PERIOD' && willRenew) return endGrace;
  const renews = state === 'ACTIVE' && willRenew && renewsAutomatically && priceIncrease?.accepted !== false;
  return renews ? renew : expire;
}

/**
 * The payment for the next period fails: a grace period with access begins, or nothing but retries when `grace` is false.
 * Failing again in the grace period ends it. A period that ran out unrenewed is taken to have failed at its end.
 */
export function failPayment(purchase: Purchase, context: TransitionContext, grace = true): Transition {
  const { state, willRenew, expirationIntent, anchor } = requireSubscription(purchase);
  if (state === 'BILLING_GRACE_PERIOD') return endGrace(purchase, context);
  const isDue = (state === 'ACTIVE' && willRenew) || (state === 'EXPIRED' && expirationIntent === 5);
  requirePossible(isDue, purchase, `is ${state}${state === 'ACTIVE' ? ' but cancelled' : ''}: no payment is due`);
  const graceUntil = getPaidUntil(purchase) + getGraceMs(anchor.period);
  if (!grace || graceUntil <= context.at) {
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

/** The subscription ends now, for the reason that its state gives. */
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

/** 16 days; for periods of a week or less 6 days, and never longer than the period. */
function getGraceMs(period: Period): number {
  const periodMs = addPeriod(0, period);
  return periodMs > 7 * dayMs ? 16 * dayMs : Math.min(6 * dayMs, periodMs);
}
