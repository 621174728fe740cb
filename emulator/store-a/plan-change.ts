import { countDays, floorToSecond } from '../calendar.ts';
import { buildPeriodTransaction, createAnchor } from './billing-period.ts';
import {
  buildNotificationType,
  getPeriod,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withEndAt,
  withLatestTransaction,
  withSubscription,
  withTransaction,
} from './purchase-transition.ts';
import { getLatestTransaction, type Product, type Purchase } from './records.ts';

/**
 * The customer moves to another product of the group: at once to one that costs more a day, or as much for as long;
 * otherwise from the next renewal on. Naming the current product takes such a move back.
 */
export function changePlan(purchase: Purchase, product: Product, context: TransitionContext): Transition {
  const { state, renewal } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: only an active subscription changes its plan`);
  requirePossible(product.id !== renewal.productId, purchase, `renews as ${product.id} already`);
  const current = context.product(getLatestTransaction(purchase).productId);
  requirePossible(product.group === current.group, purchase, `is in another subscription group than ${product.id}`);
  const renewsAs = withRenewalProduct(purchase, product);
  if (product.id === current.id)
    return { purchase: renewsAs, notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF')] };
  return isImmediate(current, product)
    ? {
        purchase: replacePlan(renewsAs, product, context),
        notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF', 'UPGRADE')],
      }
    : { purchase: renewsAs, notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE')] };
}

function withRenewalProduct(purchase: Purchase, { id, priceMicros, currency }: Product): Purchase {
  const { priceIncrease: _forgotten, comingOffer: _lost, ...subscription } = requireSubscription(purchase);
  const renewal = { productId: id, priceMicros: purchase.sharedFrom === undefined ? priceMicros : 0, currency };
  return { ...purchase, subscription: { ...subscription, willRenew: true, renewal } };
}

function isImmediate(current: Product, next: Product): boolean {
  const perDay = (product: Product): number => product.priceMicros / countDays(getPeriod(product));
  if (perDay(next) === perDay(current)) return getPeriod(next) === getPeriod(current);
  return perDay(next) > perDay(current);
}

function replacePlan(purchase: Purchase, product: Product, context: TransitionContext): Purchase {
  const ended = withLatestTransaction(withEndAt(purchase, context.at), { isUpgraded: true, changedAt: context.at });
  const start = floorToSecond(context.at);
  const anchor = createAnchor(start, getPeriod(product));
  const price = requireSubscription(purchase).renewal;
  const transaction = buildPeriodTransaction({ anchor, price, start, reason: 'PURCHASE' }, context);
  return withSubscription(withTransaction(ended, transaction), { anchor });
}
