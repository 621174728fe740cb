import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withoutPlatform, withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { toAmount } from './money.ts';
import type { Order, OrderItem } from './payloads.ts';

/** A subscription is asked for so many of its earlier orders. */
const maxEarlierOrders = 24;

/**
 * The orders of a subscription before this one, the oldest first: the first order's id has no end, and its renewals' ids
 * end in `..0`, `..1` and so on.
 */
export function listEarlierOrderIds(orderId: string): string[] {
  const [, first = '', last] = /^(.+)\.\.(\d{1,6})$/.exec(orderId) ?? [];
  if (last === undefined) return [];
  const ids = [first, ...Array.from({ length: Number(last) }, (_, place) => `${first}..${place}`)];
  return ids.slice(-maxEarlierOrders);
}

const paidStates = new Set(['PROCESSED', 'PARTIALLY_REFUNDED', 'PENDING_REFUND', 'REFUNDED']);

/** The purchase with the payments of its earlier periods, which nothing but their orders tells of. */
export function withPastOrders(observation: Observation, orders: ReadonlyMap<string, Order>): Observation {
  const past = [...orders].flatMap(([orderId, order]) => {
    const isKnown = observation.purchase.transactionId === withPlatform('store_b', orderId);
    return isKnown || !paidStates.has(order.state ?? '') ? [] : toTransactions(order, orderId, observation);
  });
  return { ...observation, transactions: [...observation.transactions, ...past] };
}

function toTransactions(order: Order, orderId: string, observation: Observation): Transaction[] {
  const item = findOrderItem(order, observation);
  const refundedAt = order.state === 'REFUNDED' ? (order.lastEventTime ?? order.createTime) : undefined;
  return item === 'of another'
    ? []
    : [toPastTransaction(observation, { orderId, order, item, ...omitUndefined({ refundedAt }) })];
}

/** The line of the order that is of this purchase; one line alone is of it whatever it names: plans change. */
export function findOrderItem({ lineItems }: Order, { purchase }: Observation): OrderItem | undefined | 'of another' {
  const item = lineItems.find(({ productId }) => productId === withoutPlatform(purchase.productId));
  if (item) return item;
  const isFirst = !withoutPlatform(purchase.purchaseId).includes(':');
  return isFirst && lineItems.length <= 1 ? lineItems[0] : 'of another';
}

interface PastOrder {
  readonly orderId: string;
  readonly order: Order;
  readonly item: OrderItem | undefined;
  readonly refundedAt?: EpochMillis;
}

/** The payment of a period that is past. */
export function toPastTransaction(
  { purchase, asOf }: Observation,
  { orderId, order, item, refundedAt }: PastOrder,
): Transaction {
  const details = item?.subscriptionDetails ?? {};
  const { basePlanId, offerId, offerPhaseDetails, servicePeriodStartTime, servicePeriodEndTime } = details;
  const amount = order.lineItems.length > 1 ? item?.total : order.total;
  const productId = item?.productId === undefined ? purchase.productId : withPlatform('store_b', item.productId);
  const { purchaseId, platform, sandbox, purchaseDate } = purchase;
  return {
    transactionId: withPlatform('store_b', orderId),
    purchaseId,
    productId,
    platform,
    sandbox,
    purchaseDate: order.createTime ?? servicePeriodStartTime ?? purchaseDate ?? asOf,
    ...omitUndefined({
      offerId: basePlanId === undefined ? undefined : `${productId}#${basePlanId}${offerId ? `@${offerId}` : ''}`,
      expirationDate: servicePeriodEndTime,
      isTrialPeriod: offerPhaseDetails?.freeTrialDetails && true,
      isIntroPeriod: offerPhaseDetails?.introductoryPriceDetails && true,
      refundedAt,
    }),
    ...(amount && toAmount(amount)),
  };
}
