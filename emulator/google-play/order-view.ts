import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { formatTime } from '../calendar.ts';
import type { Product } from '../product.ts';
import { getPeriod, toBasePlanId } from './catalogue.ts';
import { toMoney } from './money.ts';
import { isPaid } from './orders.ts';
import { getRemainingMicros } from './partial-refund.ts';
import type { Order, VoidedOrder } from './records.ts';

/** Developer's share of the price, in percent. */
const developerPercent = 85;

/**
 * Converts an order to the response of `orders.get`. Prices do not include taxes.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/get
 */
export function toOrderView(
  order: Order,
  { token, product }: { readonly token: string; readonly product: Product },
): androidpublisher_v3.Schema$Order {
  const { amountMicros, currency, state } = order;
  const total = toMoney(amountMicros, currency);
  const revenue = isPaid(state) ? Math.round((getRemainingMicros(order) * developerPercent) / 100) : 0;
  return {
    orderId: order.id,
    purchaseToken: token,
    state,
    createTime: formatTime(order.createdAt),
    lastEventTime: formatTime(order.changedAt),
    buyerAddress: { buyerCountry: 'US' },
    total,
    tax: toMoney(0, currency),
    orderDetails: { taxInclusive: false },
    orderHistory: toHistory(order),
    developerRevenueInBuyerCurrency: toMoney(revenue, currency),
    salesChannel: 'IN_APP',
    lineItems: [
      {
        productId: order.productId,
        productTitle: order.productId,
        listingPrice: toMoney(order.listMicros, currency),
        total,
        tax: toMoney(0, currency),
        ...toDetails(order, product),
      },
    ],
  };
}

function toHistory(order: Order): androidpublisher_v3.Schema$OrderHistory {
  const { state, createdAt, changedAt, currency, partialRefunds = [] } = order;
  const changed = { eventTime: formatTime(changedAt) };
  if (state === 'PENDING') return {};
  if (state === 'CANCELED') return { cancellationEvent: changed };
  if (state === 'PROCESSED') return { processedEvent: changed };
  const toRefundDetails = (micros: number) => ({ total: toMoney(micros, currency), tax: toMoney(0, currency) });
  const partialRefundEvents = partialRefunds.map((refund) => ({
    createTime: formatTime(refund.at),
    processTime: formatTime(refund.at),
    state: 'PROCESSED_SUCCESSFULLY',
    refundDetails: toRefundDetails(refund.amountMicros),
  }));
  return {
    processedEvent: { eventTime: formatTime(createdAt) },
    ...(partialRefunds.length > 0 && { partialRefundEvents }),
    ...(state === 'REFUNDED' && {
      refundEvent: { ...changed, refundDetails: toRefundDetails(getRemainingMicros(order)), refundReason: 'OTHER' },
    }),
  };
}

function toDetails(order: Order, product: Product): androidpublisher_v3.Schema$LineItem {
  const { service, offerId, phase, quantity } = order;
  if (service === undefined) return { oneTimePurchaseDetails: { purchaseOptionId: 'buy', quantity } };
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
 * reason (0).
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases/list
 */
export const toVoidedView = ({
  token,
  orderId,
  purchasedAt,
  voidedAt,
  quantity,
}: VoidedOrder): androidpublisher_v3.Schema$VoidedPurchase => ({
  kind: 'androidpublisher#voidedPurchase',
  purchaseToken: token,
  purchaseTimeMillis: String(purchasedAt),
  voidedTimeMillis: String(voidedAt),
  orderId,
  voidedSource: 1,
  voidedReason: 0,
  ...(quantity !== undefined && { voidedQuantity: quantity }),
});
