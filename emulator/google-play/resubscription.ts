import { floorToSecond } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import {
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  withSubscription,
} from './purchase-transition.ts';
import { createSubscription } from './purchasing.ts';
import type { Purchase } from './records.ts';

/**
 * Buys an expired subscription again in the Play Store app. The new purchase has its own token and names the expired
 * one.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#OutOfAppPurchaseContext
 */
export function resubscribe(purchase: Purchase, { at, product }: TransitionContext): Transition {
  const { state, cancellation, renewsAutomatically } = requireSubscription(purchase);
  const isResumable = state === 'EXPIRED' && cancellation?.by !== 'replacement';
  requirePossible(isResumable, purchase, `is ${state}: only an expired subscription can be resumed`);
  const { applicationUsername, sandbox } = purchase;
  const order = { ...(applicationUsername !== undefined && { applicationUsername }), sandbox };
  const sale = { order: { ...order, autoRenew: renewsAutomatically }, product, at: floorToSecond(at) };
  const successor = withSubscription(createSubscription(sale), { resubscribes: purchase.id });
  return {
    purchase,
    notifications: [],
    successor: { purchase: successor, notifications: [buildSubscriptionNotification(successor, 'PURCHASED')] },
  };
}
