import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { formatTime } from '../calendar.ts';
import type { Product } from '../product.ts';
import { getPeriod, toBasePlanId } from './catalogue.ts';
import { toMoney } from './money.ts';
import { isPaid } from './orders.ts';
import { getRemainingTotal } from './partial-refund.ts';
import type { Order, Purchase, VoidedOrder } from './records.ts';
import { toPurchaseOptionId } from './rental.ts';
import { listLines } from './subscription-items.ts';
import { computeTax, getContainedTax, getTotalMicros } from './tax.ts';

/** Developer's share of the price, in percent. */
const developerPercent = 85;

/**
 * Converts an order to the response of `orders.get`. Listed prices do not include taxes, totals do.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/get
 */
export function toOrderView(
  order: Order,
  { purchase, product }: { readonly purchase: Purchase; readonly product: Product },
): androidpublisher_v3.Schema$Order {
  const { amountMicros, currency, state } = order;
  const total = toMoney(getTotalMicros(order, purchase), currency);
  const kept = getRemainingTotal(order, purchase);
  const net = kept - getContainedTax(kept, purchase);
  const revenue = isPaid(state) ? Math.round((net * developerPercent) / 100) : 0;
  return {
    orderId: order.id,
    purchaseToken: purchase.id,
    state,
    createTime: formatTime(order.createdAt),
    lastEventTime: formatTime(order.changedAt),
    buyerAddress: { buyerCountry: 'US' },
    total,
    tax: toMoney(computeTax(amountMicros, purchase), currency),
    orderDetails: { taxInclusive: false },
    orderHistory: toHistory(order, purchase),
    developerRevenueInBuyerCurrency: toMoney(revenue, currency),
    salesChannel: 'IN_APP',
    lineItems: listLines(order).map((line) => ({
      productId: line.productId,
      productTitle: line.productId,
      listingPrice: toMoney(line.listMicros, currency),
      total: toMoney(line.amountMicros + computeTax(line.amountMicros, purchase), currency),
      tax: toMoney(computeTax(line.amountMicros, purchase), currency),
      ...toDetails(order, product, purchase),
    })),
  };
}

function toHistory(order: Order, purchase: Purchase): androidpublisher_v3.Schema$OrderHistory {
  const { state, createdAt, processedAt = createdAt, changedAt, currency, partialRefunds = [] } = order;
  const changed = { eventTime: formatTime(changedAt) };
  if (state === 'PENDING') return {};
  if (state === 'CANCELED') return { cancellationEvent: changed };
  if (state === 'PROCESSED') return { processedEvent: changed };
  const toRefundDetails = (micros: number) => ({
    total: toMoney(micros, currency),
    tax: toMoney(getContainedTax(micros, purchase), currency),
  });
  const partialRefundEvents = partialRefunds.map((refund) => ({
    createTime: formatTime(refund.at),
    processTime: formatTime(refund.at),
    state: 'PROCESSED_SUCCESSFULLY',
    refundDetails: toRefundDetails(refund.amountMicros),
  }));
  return {
    processedEvent: { eventTime: formatTime(processedAt) },
    ...(partialRefunds.length > 0 && { partialRefundEvents }),
    ...(state === 'REFUNDED' && {
      refundEvent: {
        ...changed,
        refundDetails: toRefundDetails(getRemainingTotal(order, purchase)),
        refundReason: 'OTHER',
      },
    }),
  };
}

function toDetails(order: Order, product: Product, { rentalPeriod }: Purchase): androidpublisher_v3.Schema$LineItem {
  const { service, offerId, phase, quantity } = order;
  if (service === undefined) {
    const purchaseOptionId = toPurchaseOptionId(rentalPeriod);
    return { oneTimePurchaseDetails: { purchaseOptionId, quantity, ...(rentalPeriod && { rentalDetails: {} }) } };
  }
  return {
    subscriptionDetails: {
      basePlanId: toBasePlanId(getPeriod(product)),
      ...(offerId !== undefined && { offerId }),
      offerPhaseDetails: { [`${phase}Details`]: {} },
      servicePeriodStartTime: formatTime(service.start),
      servicePeriodEndTime: formatTime(service.end),
    },
  };
}

/**
 * Converts a voided order to the response of `purchases.voidedpurchases.list`: voided by the developer (1) for another
 * reason (0), or by Google (2) because the purchase was not acknowledged (8) or charged back (7).
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases/list
 */
export const toVoidedView = ({
  token,
  orderId,
  purchasedAt,
  voidedAt,
  quantity,
  isUnacknowledged,
  isChargeback,
}: VoidedOrder): androidpublisher_v3.Schema$VoidedPurchase => ({
  kind: 'androidpublisher#voidedPurchase',
  purchaseToken: token,
  purchaseTimeMillis: String(purchasedAt),
  voidedTimeMillis: String(voidedAt),
  orderId,
  voidedSource: isUnacknowledged || isChargeback ? 2 : 1,
  voidedReason: isUnacknowledged ? 8 : isChargeback ? 7 : 0,
  ...(quantity !== undefined && { voidedQuantity: quantity }),
});
