import * as v from 'valibot';
import { type Answer, json, type StoreCall } from '../http-messages.ts';
import { purchasesOf } from './books.ts';
import { Payment, type Purchase } from './records.ts';
import { askedAbout, pageOf, requested, Sandbox, written } from './service-request.ts';
import type { Source } from './source.ts';

const pageSize = 100;

const Query = v.object({
  b2bKey: v.string(),
  lineItemStateFilter: v.nullish(v.array(Payment.entries.state), ['Refunded', 'Revoked']),
  continuationToken: v.nullish(v.string()),
  sbx: Sandbox,
});

/** `POST /v8.0/b2b/orders/query`: the customer's payments, those that were paid back unless others are asked for. */
export function queryOrders(source: Source, call: StoreCall): Answer {
  const query = requested(Query, call);
  const { account } = askedAbout(source, call, { service: 'purchase', key: query.b2bKey });
  const orders = purchasesOf(source.books, account, query.sbx).flatMap((purchase) =>
    purchase.payments
      .filter(({ state }) => query.lineItemStateFilter.includes(state))
      .map((payment) => order(purchase, payment)),
  );
  return json(200, pageOf(orders, pageSize, query.continuationToken));
}

const order = ({ productId }: Purchase, payment: Payment): object => ({
  orderId: payment.orderId,
  orderLineItems: [
    {
      lineItemId: payment.lineItemId,
      lineItemState: payment.state,
      productId,
      quantity: payment.quantity,
      skuId: '0010',
    },
  ],
  orderPurchasedDate: written(payment.purchasedDate),
  ...(payment.refundedDate !== undefined && { orderRefundedDate: written(payment.refundedDate) }),
});
