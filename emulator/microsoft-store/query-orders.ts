import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { skuId } from './collection-item.ts';
import { listOpenClawbacks } from './payments.ts';
import type { Payment, Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { parseRequest, requireKeyHolder, Sandbox, toPage, toTimestamp } from './service-request.ts';
import { listPurchases } from './store-state.ts';

const pageSize = 100;

const Query = v.object({
  b2bKey: v.string(),
  lineItemStateFilter: v.nullish(v.array(v.string()), ['Refunded', 'Revoked']),
  continuationToken: v.nullish(v.string()),
  sbx: Sandbox,
});

/**
 * `POST /v8.0/b2b/orders/query`: returns the customer's payments, by default the refunded ones.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export function queryOrders(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const query = parseRequest(Query, call);
  const { account } = requireKeyHolder(context, call, { service: 'purchase', key: query.b2bKey });
  const orders = listPurchases(context.state, account, query.sbx).flatMap((purchase) =>
    purchase.payments
      .filter((payment) => query.lineItemStateFilter.includes(getState(payment)))
      .map((payment) => toOrder(purchase, payment)),
  );
  return jsonResponse(
    200,
    toPage(orders, pageSize, {
      continuationToken: query.continuationToken,
      listLength: context.settings().listLength,
    }),
  );
}

function toOrder({ productId }: Purchase, payment: Payment): object {
  const [first] = listOpenClawbacks(payment);
  return {
    orderId: payment.orderId,
    orderLineItems: [
      {
        lineItemId: payment.lineItemId,
        lineItemState: getState(payment),
        productId,
        // A purchase is of one product, which can add several units to a balance.
        quantity: 1,
        skuId,
      },
    ],
    orderPurchasedDate: toTimestamp(payment.purchasedDate),
    ...(first && { orderRefundedDate: toTimestamp(first.date) }),
  };
}

/** This query has one state for a refund, whether the customer keeps the product or not. */
function getState(payment: Payment): 'Purchased' | 'Refunded' | 'Revoked' {
  const open = listOpenClawbacks(payment);
  if (open.some(({ state }) => state === 'Revoked')) return 'Revoked';
  return open.length > 0 ? 'Refunded' : 'Purchased';
}
