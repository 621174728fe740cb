import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { getPeriod, toBasePlanId } from './catalogue.ts';
import { toMoney, toTimestamp } from './money.ts';
import type { Order, Product, VoidedOrder } from './records.ts';

/** What is left to the developer of the price, for each hundred. */
const developerPercent = 85;

/** An order as `orders.get` answers it; prices are without taxes. */
export function toOrderView(
  order: Order,
  { token, product }: { readonly token: string; readonly product: Product },
): androidpublisher_v3.Schema$Order {
  const { amountMicros, currency, state } = order;
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  const total = toMoney(amountMicros, currency);
  const kept = isPaid ? Math.round((getRemainingMicros(order) * developerPercent) / 100) : 0;
  return {
    orderId: order.id,
    purchaseToken: token,
    state,
    createTime: toTimestamp(order.createdAt),
    lastEventTime: toTimestamp(order.changedAt),
    buyerAddress: { buyerCountry: 'US' },
    total,
    tax: toMoney(0, currency),
    orderDetails: { taxInclusive: false },
    orderHistory: toHistory(order),
    developerRevenueInBuyerCurrency: toMoney(kept, currency),
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

/** What of the price was not paid back in part. */
const getRemainingMicros = ({ amountMicros, partialRefunds = [] }: Order): number =>
  partialRefunds.reduce((rest, refund) => rest - refund.amountMicros, amountMicros);

function toHistory(order: Order): androidpublisher_v3.Schema$OrderHistory {
  const { state, createdAt, changedAt, currency, partialRefunds = [] } = order;
  const changed = { eventTime: toTimestamp(changedAt) };
  if (state === 'PENDING') return {};
  if (state === 'CANCELED') return { cancellationEvent: changed };
  if (state === 'PROCESSED') return { processedEvent: changed };
  const details = (micros: number) => ({ total: toMoney(micros, currency), tax: toMoney(0, currency) });
  const partialRefundEvents = partialRefunds.map((refund) => ({
    createTime: toTimestamp(refund.at),
    processTime: toTimestamp(refund.at),
    state: 'PROCESSED_SUCCESSFULLY',
    refundDetails: details(refund.amountMicros),
  }));
  return {
    processedEvent: { eventTime: toTimestamp(createdAt) },
    ...(partialRefunds.length > 0 && { partialRefundEvents }),
    ...(state === 'REFUNDED' && {
      refundEvent: { ...changed, refundDetails: details(getRemainingMicros(order)), refundReason: 'OTHER' },
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
      servicePeriodStartTime: toTimestamp(service.start),
      servicePeriodEndTime: toTimestamp(service.end),
    },
  };
}

/** A void order as `purchases.voidedpurchases.list` answers it: the developer's doing, for no reason that has a number. */
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
