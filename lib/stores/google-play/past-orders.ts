import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { toPeriodStart } from '../to-period-start.ts';
import type { TokenPurchases } from './known-purchases.ts';
import { toOfferId } from './mapping-context.ts';
import { toAmount } from './money.ts';
import { toPastPhase } from './offer-type.ts';
import { findLine, findLineProceeds, findLineTax, findLineTotal } from './order-lines.ts';
import { getProductRefunds } from './order-refunds.ts';
import { getPaymentDate } from './paid-period.ts';
import type { Order, OrderItem } from './payloads.ts';

const maxEarlierOrders = 24;

/** Lists the earlier orders of a subscription, oldest first: `GPA.1`, `GPA.1..0`, `GPA.1..1` for `GPA.1..2`. */
export function listEarlierOrderIds(orderId: string): string[] {
  const [, firstOrderId = '', renewalNumber] = /^(.+)\.\.(\d{1,6})$/.exec(orderId) ?? [];
  if (renewalNumber === undefined) return [];
  const renewalIds = Array.from({ length: Number(renewalNumber) }, (_, number) => `${firstOrderId}..${number}`);
  return [firstOrderId, ...renewalIds].slice(-maxEarlierOrders);
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders */
const paidStates = new Set(['PROCESSED', 'PARTIALLY_REFUNDED', 'PENDING_REFUND', 'REFUNDED']);

/** Adds the payments of earlier periods, which the subscription resource does not have, to the purchases of a token. */
export const withPastOrders = (
  observations: readonly Observation[],
  { orders, known }: Omit<TokenOrders, 'siblings'>,
): Observation[] =>
  observations.map((observation) => addPastOrders(observation, { orders, known, siblings: observations }));

interface TokenOrders extends Pick<TokenPurchases, 'known'> {
  readonly orders: ReadonlyMap<string, Order>;
  /** The purchases of the same token. */
  readonly siblings: readonly Observation[];
}

function addPastOrders(observation: Observation, { orders, known, siblings }: TokenOrders): Observation {
  const stored = known.get(observation.purchase.purchaseId)?.transactions ?? [];
  const pastTransactions = [...orders].flatMap(([orderId, order]) => {
    const isCurrent = observation.purchase.transactionId === withPlatform(platformTokens.googlePlay, orderId);
    return isCurrent || !paidStates.has(order.state ?? '')
      ? []
      : (toOrderTransaction(order, { orderId, observation, siblings }) ?? []);
  });
  const kept = pastTransactions.map((transaction) => withStoredPlan(transaction, stored));
  return { ...observation, transactions: [...observation.transactions, ...kept] };
}

/** Keeps the price of the plan: an order does not show that it paid for a part of a period. */
export function withStoredPlan(transaction: Transaction, stored: readonly Transaction[]): Transaction {
  const plan = stored.find(({ transactionId }) => transactionId === transaction.transactionId)?.plan;
  return { ...transaction, ...omitUndefined({ plan }) };
}

interface OrderPurchase {
  readonly orderId: string;
  readonly observation: Observation;
  /** The purchases of the same token. */
  readonly siblings: readonly Observation[];
}

/** Converts a past order of a token to the transaction of one of its purchases. Undefined if it paid for others. */
export function toOrderTransaction(
  order: Order,
  { orderId, observation, siblings }: OrderPurchase,
): Transaction | undefined {
  const item = findOrderItem(order, observation, siblings);
  return item === 'otherPurchase' ? undefined : toPastTransaction(observation, { orderId, order, item });
}

/**
 * Finds the line of an order that belongs to the purchase. A single line of a product that the token lacks belongs to
 * its first purchase, because plans change. Returns undefined if the order lacks lines.
 */
function findOrderItem(
  order: Order,
  { purchase }: Observation,
  siblings: readonly Observation[],
): OrderItem | undefined | 'otherPurchase' {
  const { lineItems } = order;
  const item = findLine(order, withoutPlatform(purchase.productId));
  if (item) return item;
  const isFirstOfToken = !withoutPlatform(purchase.purchaseId).includes(':');
  const isOfSibling = siblings.some((sibling) => findLine(order, withoutPlatform(sibling.purchase.productId)));
  return isFirstOfToken && !isOfSibling && lineItems.length <= 1 ? lineItems[0] : 'otherPurchase';
}

interface PastOrder {
  readonly orderId: string;
  readonly order: Order;
  readonly item: OrderItem | undefined;
}

/** Converts the order of a past period to a transaction. */
function toPastTransaction({ purchase, asOf }: Observation, { orderId, order, item }: PastOrder): Transaction {
  const details = item?.subscriptionDetails ?? {};
  const { basePlanId, offerId, servicePeriodStartTime, servicePeriodEndTime } = details;
  const productId =
    item?.productId === undefined ? purchase.productId : withPlatform(platformTokens.googlePlay, item.productId);
  const amount = findLineTotal(order, withoutPlatform(productId));
  const purchaseDate = getPaymentDate(order) ?? servicePeriodStartTime ?? purchase.purchaseDate ?? asOf;
  return {
    ...pickSharedFields(purchase),
    transactionId: withPlatform(platformTokens.googlePlay, orderId),
    productId,
    purchaseDate,
    ...omitUndefined({
      offerId: toOfferId(productId, { basePlanId, offerId }),
      periodStartDate: toPeriodStart(servicePeriodStartTime, purchaseDate),
      expirationDate: servicePeriodEndTime,
      storefront: order.buyerAddress?.buyerCountry,
      ...toPastPhase(details),
      ...getProductRefunds(order, withoutPlatform(productId)),
    }),
    ...(amount && toAmount(amount)),
    ...findLineTax(order, withoutPlatform(productId)),
    ...findLineProceeds(order, withoutPlatform(productId)),
  };
}
