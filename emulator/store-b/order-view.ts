import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { basePlanId, periodOf } from './catalogue.ts';
import { money, written } from './money.ts';
import type { PlacedOrder, Product, Voided } from './records.ts';

/** What is left to the developer of the price, for each hundred. */
const developerPercent = 85;

/** An order as `orders.get` answers it; prices are without taxes. */
export function orderView(
  order: PlacedOrder,
  { token, product }: { readonly token: string; readonly product: Product },
): androidpublisher_v3.Schema$Order {
  const { amountMicros, currency, state } = order;
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  const total = money(amountMicros, currency);
  const kept = isPaid ? Math.round((restOf(order) * developerPercent) / 100) : 0;
  return {
    orderId: order.id,
    purchaseToken: token,
    state,
    createTime: written(order.createdAt),
    lastEventTime: written(order.changedAt),
    buyerAddress: { buyerCountry: 'US' },
    total,
    tax: money(0, currency),
    orderDetails: { taxInclusive: false },
    orderHistory: historyOf(order),
    developerRevenueInBuyerCurrency: money(kept, currency),
    salesChannel: 'IN_APP',
    lineItems: [
      {
        productId: order.productId,
        productTitle: order.productId,
        listingPrice: money(order.listMicros, currency),
        total,
        tax: money(0, currency),
        ...detailsOf(order, product),
      },
    ],
  };
}

/** What of the price was not paid back in part. */
const restOf = ({ amountMicros, partialRefunds = [] }: PlacedOrder): number =>
  partialRefunds.reduce((rest, refund) => rest - refund.amountMicros, amountMicros);

function historyOf(order: PlacedOrder): androidpublisher_v3.Schema$OrderHistory {
  const { state, createdAt, changedAt, currency, partialRefunds = [] } = order;
  const changed = { eventTime: written(changedAt) };
  if (state === 'PENDING') return {};
  if (state === 'CANCELED') return { cancellationEvent: changed };
  if (state === 'PROCESSED') return { processedEvent: changed };
  const details = (micros: number) => ({ total: money(micros, currency), tax: money(0, currency) });
  const partialRefundEvents = partialRefunds.map((refund) => ({
    createTime: written(refund.at),
    processTime: written(refund.at),
    state: 'PROCESSED_SUCCESSFULLY',
    refundDetails: details(refund.amountMicros),
  }));
  return {
    processedEvent: { eventTime: written(createdAt) },
    ...(partialRefunds.length > 0 && { partialRefundEvents }),
    ...(state === 'REFUNDED' && {
      refundEvent: { ...changed, refundDetails: details(restOf(order)), refundReason: 'OTHER' },
    }),
  };
}

function detailsOf(order: PlacedOrder, product: Product): androidpublisher_v3.Schema$LineItem {
  const { service, offerId, phase, quantity } = order;
  if (service === undefined) return { oneTimePurchaseDetails: { purchaseOptionId: 'buy', quantity } };
  return {
    subscriptionDetails: {
      basePlanId: basePlanId(periodOf(product)),
      ...(offerId !== undefined && { offerId }),
      offerPhaseDetails: { [`${phase}Details`]: {} },
      servicePeriodStartTime: written(service.start),
      servicePeriodEndTime: written(service.end),
    },
  };
}

/** A void order as `purchases.voidedpurchases.list` answers it: the developer's doing, for no reason that has a number. */
export const voidedView = ({
  token,
  orderId,
  purchasedAt,
  voidedAt,
  quantity,
}: Voided): androidpublisher_v3.Schema$VoidedPurchase => ({
  kind: 'androidpublisher#voidedPurchase',
  purchaseToken: token,
  purchaseTimeMillis: String(purchasedAt),
  voidedTimeMillis: String(voidedAt),
  orderId,
  voidedSource: 1,
  voidedReason: 0,
  ...(quantity !== undefined && { voidedQuantity: quantity }),
});
