import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { bare, prefixed } from '../../purchases/platform.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { amountOf } from './money.ts';
import type { Order, OrderItem } from './payloads.ts';

/** A subscription is asked for so many of its earlier orders. */
const mostEarlier = 24;

/**
 * The orders of a subscription before this one, the oldest first: the first order's id has no end, and its renewals' ids
 * end in `..0`, `..1` and so on.
 */
export function earlierOrderIds(orderId: string): string[] {
  const [, first = '', last] = /^(.+)\.\.(\d{1,6})$/.exec(orderId) ?? [];
  if (last === undefined) return [];
  const ids = [first, ...Array.from({ length: Number(last) }, (_, place) => `${first}..${place}`)];
  return ids.slice(-mostEarlier);
}

const paid = new Set(['PROCESSED', 'PARTIALLY_REFUNDED', 'PENDING_REFUND', 'REFUNDED']);

/** The purchase with the payments of its earlier periods, which nothing but their orders tells of. */
export function withPastOrders(observation: Observation, orders: ReadonlyMap<string, Order>): Observation {
  const past = [...orders].flatMap(([orderId, order]) => {
    const isKnown = observation.purchase.transactionId === prefixed('store_b', orderId);
    return isKnown || !paid.has(order.state ?? '') ? [] : transactionIn(order, orderId, observation);
  });
  return { ...observation, transactions: [...observation.transactions, ...past] };
}

function transactionIn(order: Order, orderId: string, observation: Observation): Transaction[] {
  const item = itemOf(order, observation);
  const refundedAt = order.state === 'REFUNDED' ? (order.lastEventTime ?? order.createTime) : undefined;
  return item === 'of another'
    ? []
    : [pastTransaction(observation, { orderId, order, item, ...defined({ refundedAt }) })];
}

/** The line of the order that is of this purchase; one line alone is of it whatever it names: plans change. */
export function itemOf({ lineItems }: Order, { purchase }: Observation): OrderItem | undefined | 'of another' {
  const item = lineItems.find(({ productId }) => productId === bare(purchase.productId));
  if (item) return item;
  const isFirst = !bare(purchase.purchaseId).includes(':');
  return isFirst && lineItems.length <= 1 ? lineItems[0] : 'of another';
}

interface Past {
  readonly orderId: string;
  readonly order: Order;
  readonly item: OrderItem | undefined;
  readonly refundedAt?: Millis;
}

/** The payment of a period that is past. */
export function pastTransaction(
  { purchase, asOf }: Observation,
  { orderId, order, item, refundedAt }: Past,
): Transaction {
  const details = item?.subscriptionDetails ?? {};
  const { basePlanId, offerId, offerPhaseDetails, servicePeriodStartTime, servicePeriodEndTime } = details;
  const amount = order.lineItems.length > 1 ? item?.total : order.total;
  const productId = item?.productId === undefined ? purchase.productId : prefixed('store_b', item.productId);
  const { purchaseId, platform, sandbox, purchaseDate } = purchase;
  return {
    transactionId: prefixed('store_b', orderId),
    purchaseId,
    productId,
    platform,
    sandbox,
    purchaseDate: order.createTime ?? servicePeriodStartTime ?? purchaseDate ?? asOf,
    ...defined({
      offerId: basePlanId === undefined ? undefined : `${productId}#${basePlanId}${offerId ? `@${offerId}` : ''}`,
      expirationDate: servicePeriodEndTime,
      isTrialPeriod: offerPhaseDetails?.freeTrialDetails && true,
      isIntroPeriod: offerPhaseDetails?.introductoryPriceDetails && true,
      refundedAt,
    }),
    ...(amount && amountOf(amount)),
  };
}
