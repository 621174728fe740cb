import { wholeSecond } from '../calendar.ts';
import { refusal } from '../refusal.ts';
import { periodOf } from './catalogue.ts';
import { type Change, demand, type Moment, subscriptionOf, told, withSubscription } from './change.ts';
import { ended } from './ending.ts';
import type { Product, Purchase } from './records.ts';
import { subscribed } from './selling.ts';

/** The customer moves to another product at once, which is another purchase; the old one ends by that. */
export function changePlan(purchase: Purchase, next: Product, { at, product }: Moment): Change {
  const { state, playsRenewals } = subscriptionOf(purchase);
  const hasAccess = state === 'ACTIVE' || state === 'CANCELED' || state === 'IN_GRACE_PERIOD';
  demand(hasAccess, purchase, `is ${state}: there is no plan to change`);
  if (next.id === product.id) throw refusal(422, `productId: ${purchase.id} is of ${product.id} already.`);
  const { applicationUsername, sandbox } = purchase;
  const order = {
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    autoRenew: playsRenewals,
  };
  const replaces = { token: purchase.id, productId: product.id, period: periodOf(product) };
  const successor = withSubscription(subscribed({ order, product: next, at: wholeSecond(at) }), { replaces });
  return {
    purchase: ended(purchase, at, 'replacement'),
    notices: [told(purchase, 'EXPIRED')],
    successor: { purchase: successor, notices: [told(successor, 'PURCHASED')] },
  };
}
