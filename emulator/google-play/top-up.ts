import { getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, floorToSecond } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { endSubscription } from './end-subscription.ts';
import { getLatestOrder } from './orders.ts';
import {
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import { createSubscription } from './purchasing.ts';
import type { Purchase } from './records.ts';

/**
 * Tops up a prepaid plan: a purchase with its own token extends the current one by a period, at the full price.
 *
 * @see https://developer.android.com/google/play/billing/subscriptions#prepaid-plans
 */
export function topUp(purchase: Purchase, { at, product }: TransitionContext): Transition {
  const { isPrepaid, state, expiryTime, anchor } = requireSubscription(purchase);
  requirePossible(isPrepaid === true && state === 'ACTIVE', purchase, `is ${state} or not prepaid`);
  const { applicationUsername, sandbox } = purchase;
  const order = { ...(applicationUsername !== undefined && { applicationUsername }), sandbox };
  const created = createSubscription({ order, product, at: floorToSecond(at) });
  const nextAnchor = { date: expiryTime, period: anchor.period, periods: 1 };
  const service = { start: expiryTime, end: addPeriod(expiryTime, anchor.period) };
  const successor = withSubscription(withOrder(created, getLatestOrder(created).id, { service }), {
    isPrepaid: true,
    autoRenew: false,
    anchor: nextAnchor,
    expiryTime: getPeriodEnd(nextAnchor),
    replaces: { token: purchase.id, productId: purchase.productId, period: anchor.period },
  });
  return {
    purchase: endSubscription(purchase, at, 'replacement'),
    notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')],
    successor: { purchase: successor, notifications: [buildSubscriptionNotification(successor, 'PURCHASED')] },
  };
}
