import * as v from 'valibot';
import type { Answer } from '../http-messages.ts';
import { bare, declined, invalid, xml } from './answers.ts';
import { enterPayment } from './billing.ts';
import { type Source, token } from './books.ts';
import { useUp, verdictOn } from './nonces.ts';
import type { Payment } from './records.ts';
import { paymentView, statusAt } from './views.ts';

const Sale = v.object({
  type: v.literal('sale'),
  amount: v.pipe(v.string(), v.regex(/^\d+(\.\d{1,3})?$/)),
  payment_method_nonce: v.string(),
  order_id: v.optional(v.string()),
  api_request_key: v.optional(v.string()),
  customer_id: v.optional(v.string()),
  options: v.optional(v.object({ submit_for_settlement: v.optional(v.boolean()) })),
});
type Sale = v.InferOutput<typeof Sale>;

const duplicateWindowMs = 30_000;

/** `POST /transactions`. */
export function sell(source: Source, body: unknown): Answer {
  const result = v.safeParse(v.object({ transaction: Sale }), body);
  if (!result.success) {
    return invalid('transaction', { code: '81503', attribute: 'amount', message: 'Amount is an invalid format.' });
  }
  const { transaction: sale } = result.output;
  const { books, now } = source;
  const again = [...books.payments.values()].find((one) => one.requestKey && one.requestKey === sale.api_request_key);
  if (again) return xml(201, 'transaction', paymentView(again, now()));
  if (sale.customer_id !== undefined && !books.customers.has(sale.customer_id)) {
    return invalid('transaction', { code: '91510', attribute: 'customer_id', message: 'Customer ID is invalid.' });
  }
  const { problem, ...verdict } = verdictOn(books, sale.payment_method_nonce);
  if (problem) return invalid('transaction', { ...problem, attribute: 'payment_method_nonce' });
  useUp(books, sale.payment_method_nonce);
  return settledSale(source, sale, isDuplicate(source, sale) ? { rejection: 'duplicate' } : verdict);
}

function isDuplicate({ books, now }: Source, { order_id, amount, customer_id }: Sale): boolean {
  return [...books.payments.values()].some(
    (one) =>
      order_id !== undefined &&
      one.orderId === order_id &&
      one.amount === amount &&
      one.customerId === customer_id &&
      now() - one.createdAt < duplicateWindowMs,
  );
}

function settledSale(source: Source, sale: Sale, verdict: Pick<Payment, 'rejection'> & Partial<Payment>): Answer {
  const { books, now } = source;
  const customerId = sale.customer_id ?? token(10);
  books.customers.add(customerId);
  const amount = Number(sale.amount);
  const byAmount = amount >= 2_000 && amount < 3_000 && { code: String(Math.floor(amount)), text: 'Do Not Honor' };
  const response = verdict.response ?? (byAmount || undefined);
  const order = books.wishes.get(sale.payment_method_nonce)?.order;
  const payment = enterPayment(source, {
    amount: sale.amount,
    currency: order?.currency ?? 'USD',
    customerId,
    nonce: sale.payment_method_nonce,
    status: statusOf(sale, verdict.rejection, response),
    ...(sale.order_id !== undefined && { orderId: sale.order_id }),
    ...(sale.api_request_key !== undefined && { requestKey: sale.api_request_key }),
    ...(verdict.rejection !== undefined && { rejection: verdict.rejection }),
    ...(response && { response }),
  });
  const view = paymentView(payment, now());
  if (verdict.rejection !== undefined) return declined(`Gateway Rejected: ${verdict.rejection}`, view);
  return response ? declined(response.text, view) : xml(201, 'transaction', view);
}

function statusOf({ options }: Sale, rejection: string | undefined, response: object | undefined): string {
  if (rejection !== undefined) return 'gateway_rejected';
  if (response) return 'processor_declined';
  return options?.submit_for_settlement ? 'submitted_for_settlement' : 'authorized';
}

/** `GET /transactions/{id}`. */
export function findPayment({ books, now }: Source, id: string): Answer {
  const payment = books.payments.get(id);
  return payment ? xml(200, 'transaction', paymentView(payment, now())) : bare(404);
}

/** Gives a payment back: voids it before it settles, refunds it after. */
export function giveBack(source: Source, payment: Payment): Payment {
  const { books, now } = source;
  const at = now();
  const status = statusAt(payment, at);
  if (status !== 'settled') {
    const voided = { ...payment, status: 'voided', updatedAt: at };
    books.payments.set(payment.id, voided);
    return voided;
  }
  const { amount, currency, customerId = '' } = payment;
  const refund = enterPayment(source, { amount, currency, customerId, type: 'credit', refundedId: payment.id });
  const refunded = { ...payment, updatedAt: at, refundIds: [...payment.refundIds, refund.id] };
  books.payments.set(payment.id, refunded);
  return refunded;
}
