import { floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { getPeriod } from './catalogue.ts';
import { endSubscription } from './end-subscription.ts';
import {
  buildSubscriptionNotification,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withSubscription,
} from './purchase-transition.ts';
import { createSubscription } from './purchasing.ts';
import type { Product, Purchase } from './records.ts';

/** The customer moves to another product at once, which is another purchase; the old one ends by that. */
export function changePlan(purchase: Purchase, next: Product, { at, product }: TransitionContext): Transition {
  const { state, renewsAutomatically } = requireSubscription(purchase);
  const hasAccess = state === 'ACTIVE' || state === 'CANCELED' || state === 'IN_GRACE_PERIOD';
  requirePossible(hasAccess, purchase, `is ${state}: there is no plan to change`);
  if (next.id === product.id) throw controlError(422, `productId: ${purchase.id} is of ${product.id} already.`);
  const { applicationUsername, sandbox } = purchase;
  const order = {
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    autoRenew: renewsAutomatically,
  };
  const replaces = { token: purchase.id, productId: product.id, period: getPeriod(product) };
  const successor = withSubscription(createSubscription({ order, product: next, at: floorToSecond(at) }), { replaces });
  return {
    purchase: endSubscription(purchase, at, 'replacement'),
    notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')],
    successor: { purchase: successor, notifications: [buildSubscriptionNotification(successor, 'PURCHASED')] },
  };
}
