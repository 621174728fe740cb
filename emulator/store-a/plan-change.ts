import { daysIn, wholeSecond } from '../calendar.ts';
import {
  type Change,
  demand,
  endingAt,
  type Moment,
  notice,
  periodOf,
  subscriptionOf,
  withLatest,
  withSubscription,
  withTransaction,
} from './change.ts';
import { firstAnchor, periodTransaction } from './period.ts';
import { latest, type Product, type Purchase } from './records.ts';

/**
 * The customer moves to another product of the group: at once to one that costs more a day, or as much for as long;
 * otherwise from the next renewal on. Naming the current product takes such a move back.
 */
export function changePlan(purchase: Purchase, product: Product, moment: Moment): Change {
  const { state, renewal } = subscriptionOf(purchase);
  demand(state === 'ACTIVE', purchase, `is ${state}: only an active subscription changes its plan`);
  demand(product.id !== renewal.productId, purchase, `renews as ${product.id} already`);
  const current = moment.product(latest(purchase).productId);
  demand(product.group === current.group, purchase, `is in another subscription group than ${product.id}`);
  const renewsAs = renewingAs(purchase, product);
  if (product.id === current.id) return { purchase: renewsAs, notices: [notice('DID_CHANGE_RENEWAL_PREF')] };
  return isImmediate(current, product)
    ? { purchase: replaced(renewsAs, product, moment), notices: [notice('DID_CHANGE_RENEWAL_PREF', 'UPGRADE')] }
    : { purchase: renewsAs, notices: [notice('DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE')] };
}

function renewingAs(purchase: Purchase, { id, priceMicros, currency }: Product): Purchase {
  const { priceIncrease: _forgotten, comingOffer: _lost, ...subscription } = subscriptionOf(purchase);
  const renewal = { productId: id, priceMicros: purchase.sharedFrom === undefined ? priceMicros : 0, currency };
  return { ...purchase, subscription: { ...subscription, willRenew: true, renewal } };
}

function isImmediate(current: Product, next: Product): boolean {
  const perDay = (product: Product): number => product.priceMicros / daysIn(periodOf(product));
  if (perDay(next) === perDay(current)) return periodOf(next) === periodOf(current);
  return perDay(next) > perDay(current);
}

function replaced(purchase: Purchase, product: Product, moment: Moment): Purchase {
  const ended = withLatest(endingAt(purchase, moment.at), { isUpgraded: true, changedAt: moment.at });
  const start = wholeSecond(moment.at);
  const anchor = firstAnchor(start, periodOf(product));
  const price = subscriptionOf(purchase).renewal;
  const transaction = periodTransaction({ anchor, price, start, reason: 'PURCHASE' }, moment);
  return withSubscription(withTransaction(ended, transaction), { anchor });
}
