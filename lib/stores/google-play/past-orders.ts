import { toBillingPeriod } from '../../foundation/billing-period.ts';
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
import { getPaymentDate, isNextOrder } from './paid-period.ts';
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
  const all = [...observation.transactions, ...pastTransactions];
  const planned = pastTransactions.map((transaction) => withStoredPlan(withNextPlan(transaction, all), stored));
  return { ...observation, transactions: [...observation.transactions, ...planned] };
}

/** Keeps the price of the plan: an order does not have the price of which it paid a part. */
export function withStoredPlan(transaction: Transaction, stored: readonly Transaction[]): Transaction {
  const plan = stored.find(({ transactionId }) => transactionId === transaction.transactionId)?.plan;
  return { ...transaction, ...omitUndefined({ plan }) };
}

/**
 * Adds the price of the plan to the payment of a proration period that was not seen before its renewal: the renewal
 * pays a whole period.
 * @see https://googleapis.dev/dotnet/Google.Apis.AndroidPublisher.v3/latest/api/Google.Apis.AndroidPublisher.v3.Data.ProrationPeriodDetails.html
 */
function withNextPlan(transaction: Transaction, all: readonly Transaction[]): Transaction {
  if (transaction.offerType !== 'prorationPeriod') return transaction;
  const next = all.find(({ transactionId }) => isNextOrder(transactionId, transaction.transactionId));
  const { amountMicros, taxMicros, purchaseDate = 0, periodStartDate = purchaseDate, expirationDate } = next ?? {};
  const isWhole = next?.offerType === undefined && next?.productId === transaction.productId;
  if (!isWhole || amountMicros === undefined || expirationDate === undefined) return transaction;
  const period = toBillingPeriod(periodStartDate, expirationDate);
  return { ...transaction, plan: { amountMicros, ...omitUndefined({ taxMicros }), period } };
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
