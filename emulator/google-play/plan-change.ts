import { floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { Product } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getPeriod } from './catalogue.ts';
import { endSubscription } from './end-subscription.ts';
import {
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  withSubscription,
} from './purchase-transition.ts';
import { createSubscription } from './purchasing.ts';
import type { Purchase } from './records.ts';
import { findDeferredItem } from './subscription-items.ts';

/**
 * Changes the product or its base plan immediately. The new purchase has its own token and replaces the old one, which
 * ends. Google Play rejects it before a deferred change has taken effect: a canceled subscription is the way back.
 *
 * @see https://github.com/RevenueCat/purchases-android/pull/3613
 */
export function changePlan(purchase: Purchase, next: Product, { at, product }: TransitionContext): Transition {
  const subscription = requireSubscription(purchase);
  const { state, renewsAutomatically } = subscription;
  requirePossible(!findDeferredItem(subscription), purchase, 'has an existing deferred replacement');
  const hasAccess = state === 'ACTIVE' || state === 'CANCELED' || state === 'IN_GRACE_PERIOD';
  requirePossible(hasAccess, purchase, `is ${state}: its plan cannot be changed`);
  const isSamePlan = next.id === product.id && getPeriod(next) === getPeriod(product);
  if (isSamePlan) throw controlError(422, `productId: ${purchase.id} already has ${product.id}.`);
  const { applicationUsername, sandbox } = purchase;
  const order = {
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    autoRenew: renewsAutomatically,
  };
  const replaces = { token: purchase.id, productId: product.id, period: getPeriod(product) };
  const successor = withSubscription(createSubscription({ order, product: next, at: floorToSecond(at) }), {
    replaces,
    period: getPeriod(next),
  });
  return {
    purchase: endSubscription(purchase, at, 'replacement'),
    notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')],
    successor: { purchase: successor, notifications: [buildSubscriptionNotification(successor, 'PURCHASED')] },
  };
}
