import { createAnchor } from '../billing-anchor.ts';
import { countDays, floorToSecond } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { buildPeriodTransaction } from './billing-period.ts';
import {
  buildNotificationType,
  clampToLatestPeriod,
  getPeriod,
  type Transition,
  type TransitionContext,
  withEndAt,
  withLatestTransaction,
  withSubscriptionState,
  withTransaction,
} from './purchase-transition.ts';
import { getLatestTransaction, type Product, type Purchase } from './records.ts';

/**
 * Changes the product within the subscription group, even while Apple retries a payment: an upgrade is a payment that
 * ends the retries. Immediate if the new product costs more per day, or costs the
 * same and has the same period; otherwise at the next renewal. The current product cancels a scheduled change.
 */
export function changePlan(purchase: Purchase, product: Product, context: TransitionContext): Transition {
  const { state, renewal, seatTiers, commitment } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' || state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY',
    purchase,
    `is ${state}: only the plan of a running subscription can be changed`,
  );
  requirePossible(product.id !== renewal.productId, purchase, `renews as ${product.id} already`);
  const { productId, items } = getLatestTransaction(purchase);
  requirePossible(
    seatTiers === undefined && commitment === undefined && items === undefined,
    purchase,
    'has seats, items or a commitment: the change of its plan is not emulated',
  );
  const current = context.product(productId);
  requirePossible(product.group === current.group, purchase, `is in another subscription group than ${product.id}`);
  const withNextProduct = withRenewalProduct(purchase, product);
  if (product.id === current.id)
    return { purchase: withNextProduct, notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF')] };
  return isImmediate(current, product)
    ? {
        purchase: replacePlan(withNextProduct, product, context),
        notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF', 'UPGRADE')],
      }
    : { purchase: withNextProduct, notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE')] };
}

function withRenewalProduct(purchase: Purchase, { id, priceMicros, currency }: Product): Purchase {
  const { priceIncrease: _obsolete, nextOffer: _lost, ...subscription } = requireSubscription(purchase);
  const renewal = { productId: id, priceMicros: purchase.sharedFrom === undefined ? priceMicros : 0, currency };
  return { ...purchase, subscription: { ...subscription, willRenew: true, renewal } };
}

function isImmediate(current: Product, next: Product): boolean {
  const getPricePerDay = (product: Product): number => product.priceMicros / countDays(getPeriod(product));
  if (getPricePerDay(next) === getPricePerDay(current)) return getPeriod(next) === getPeriod(current);
  return getPricePerDay(next) > getPricePerDay(current);
}

function replacePlan(purchase: Purchase, product: Product, context: TransitionContext): Purchase {
  const start = clampToLatestPeriod(purchase, floorToSecond(context.at));
  const isCut = (getLatestTransaction(purchase).expiresDate ?? start) > start;
  const ended = withLatestTransaction(withEndAt(purchase, start), {
    ...(isCut && { isUpgraded: true }),
    changedAt: context.at,
  });
  const anchor = createAnchor(start, getPeriod(product));
  const price = requireSubscription(purchase).renewal;
  const transaction = buildPeriodTransaction({ anchor, price, start, reason: 'PURCHASE' }, context);
  return withSubscriptionState(withTransaction(ended, transaction), { state: 'ACTIVE', willRenew: true, anchor });
}
