import { createAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { floorToSecond } from '../calendar.ts';
import { requirePossible } from '../purchase-checks.ts';
import { getLatestOrder } from './orders.ts';
import {
  buildOneTimeNotification,
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/**
 * Copies a new purchase with a pending payment, for example in cash. Google does not send a notification for it.
 *
 * @see https://developer.android.com/google/play/billing/integrate#pending
 */
export function withPendingPayment(purchase: Purchase): Purchase {
  const unpaid = {
    ...withOrder(purchase, getLatestOrder(purchase).id, { state: 'PENDING' }),
    isUnpaid: true as const,
  };
  return unpaid.subscription === undefined ? unpaid : withSubscription(unpaid, { state: 'PENDING' });
}

export const isPending = ({ isUnpaid, isCancelled, subscription }: Purchase): boolean =>
  subscription === undefined ? isUnpaid === true && !isCancelled : subscription.state === 'PENDING';

/**
 * Returns the release of a pre-ordered product. Google charges the order then, and sends a notification.
 *
 * @see https://developer.android.com/google/play/billing/lifecycle/one-time
 */
export const getReleaseTime = (purchase: Purchase): number | undefined =>
  isPending(purchase) ? purchase.releaseAt : undefined;

/** Completes the pending payment. The first period of a subscription starts now. */
export function payPending(purchase: Purchase, context: TransitionContext): Transition {
  requirePossible(isPending(purchase), purchase, 'does not have a pending payment');
  const at = floorToSecond(context.at);
  const { id } = getLatestOrder(purchase);
  const { isUnpaid: _isUnpaid, ...started } = { ...purchase, purchasedAt: at };
  const paid = withOrder(started, id, { state: 'PROCESSED', changedAt: at, processedAt: at });
  const { subscription } = purchase;
  if (subscription === undefined) {
    return {
      purchase: paid,
      notifications: [buildOneTimeNotification(purchase, 'PURCHASED')],
    };
  }
  const anchor = createAnchor(at, subscription.anchor.period);
  const expiryTime = getPeriodEnd(anchor);
  const service = { start: at, end: expiryTime };
  return {
    purchase: withSubscription(withOrder(paid, id, { service }), {
      state: 'ACTIVE',
      anchor,
      expiryTime,
    }),
    notifications: [buildSubscriptionNotification(purchase, 'PURCHASED')],
  };
}

/** Ends the pending payment unpaid. */
export function abandonPending(purchase: Purchase, { at }: TransitionContext): Transition {
  requirePossible(isPending(purchase), purchase, 'does not have a pending payment');
  const canceled = withOrder(purchase, getLatestOrder(purchase).id, { state: 'CANCELED', changedAt: at });
  return purchase.subscription === undefined
    ? {
        purchase: { ...canceled, isCancelled: true },
        notifications: [buildOneTimeNotification(purchase, 'CANCELED')],
      }
    : {
        purchase: withSubscription(canceled, { state: 'PENDING_PURCHASE_CANCELED', autoRenew: false }),
        notifications: [buildSubscriptionNotification(purchase, 'PENDING_PURCHASE_CANCELED')],
      };
}
