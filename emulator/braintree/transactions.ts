import * as v from 'valibot';
import { secondMs } from '../calendar.ts';
import type { HttpResponse } from '../http-messages.ts';
import { savePayment, withPaymentStatus } from './billing.ts';
import {
  buildTaxAmount,
  formatAmount,
  generateCustomerId,
  type MerchantState,
  type ResponseContext,
  toMicros,
} from './merchant-state.ts';
import { checkNonce, consumeNonce } from './nonces.ts';
import type { Payment } from './records.ts';
import { declinedResponse, emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { getStatus, toPaymentView } from './views.ts';

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

/** @see https://developer.paypal.com/braintree/articles/control-panel/transactions/duplicate-checking */
const duplicateWindowMs = 30 * secondMs;

/** `POST /transactions`. */
export function createTransaction(context: ResponseContext, body: unknown): HttpResponse {
  const result = v.safeParse(v.object({ transaction: Sale }), body);
  if (!result.success) {
    return validationErrorResponse('transaction', {
      code: '81503',
      attribute: 'amount',
      message: 'Amount is an invalid format.',
    });
  }
  const { transaction: sale } = result.output;
  const { state, now } = context;
  const existing = [...state.payments.values()].find(
    ({ requestKey }) => requestKey !== undefined && requestKey === sale.api_request_key,
  );
  if (existing) return xmlResponse(201, 'transaction', toPaymentView(existing, now()));
  if (sale.customer_id !== undefined && !state.customers.has(sale.customer_id)) {
    return validationErrorResponse('transaction', {
      code: '91510',
      attribute: 'customer_id',
      message: 'Customer ID is invalid.',
    });
  }
  const { problem, ...verdict } = checkNonce(state, sale.payment_method_nonce);
  if (problem) return validationErrorResponse('transaction', { ...problem, attribute: 'payment_method_nonce' });
  const vaultCustomerId = state.pendingOrders.get(sale.payment_method_nonce)?.customerId;
  if (vaultCustomerId !== undefined && sale.customer_id !== undefined && sale.customer_id !== vaultCustomerId) {
    return validationErrorResponse('transaction', {
      code: '91516',
      attribute: 'payment_method_nonce',
      message:
        'Cannot provide both payment_method_token and customer_id unless the payment_method belongs to the customer.',
    });
  }
  consumeNonce(state, sale.payment_method_nonce);
  return processSale(context, sale, isDuplicate(context, sale) ? { rejection: 'duplicate' } : verdict);
}

function isDuplicate({ state, now }: ResponseContext, { order_id, amount, customer_id }: Sale): boolean {
  return [...state.payments.values()].some(
    (payment) =>
      order_id !== undefined &&
      payment.orderId === order_id &&
      payment.amount === amount &&
      (customer_id === undefined || payment.customerId === customer_id) &&
      now() - payment.createdAt < duplicateWindowMs,
  );
}

function processSale(
  context: ResponseContext,
  sale: Sale,
  verdict: Pick<Payment, 'rejection'> & Partial<Payment>,
): HttpResponse {
  const { state, now } = context;
  const pendingOrder = state.pendingOrders.get(sale.payment_method_nonce);
  // https://developer.paypal.com/braintree/docs/guides/credit-cards/server-side/node#creating-transactions
  const customerId = sale.customer_id ?? pendingOrder?.customerId ?? generateCustomerId();
  state.customers.add(customerId);
  const amount = Number(sale.amount);
  const amountResponse = amount >= 2_000 &&
    amount < 3_000 && { code: String(Math.floor(amount)), text: 'Do Not Honor' };
  const response = verdict.response ?? (amountResponse || undefined);
  const order = pendingOrder?.order;
  const payment = savePayment(context, {
    amount: sale.amount,
    currency: order?.currency ?? 'USD',
    customerId,
    nonce: sale.payment_method_nonce,
    ...(order?.country !== undefined && { country: order.country }),
    ...buildTaxAmount(sale.amount, order?.taxRate),
    status: toStatus(sale, { ...verdict, ...(response && { response }) }, order?.pending),
    ...(sale.order_id !== undefined && { orderId: sale.order_id }),
    ...(sale.api_request_key !== undefined && { requestKey: sale.api_request_key }),
    ...(verdict.rejection !== undefined && { rejection: verdict.rejection }),
    ...(response && { response }),
  });
  const view = toPaymentView(payment, now());
  if (verdict.rejection !== undefined) return declinedResponse(`Gateway Rejected: ${verdict.rejection}`, view);
  return response ? declinedResponse(response.text, view) : xmlResponse(201, 'transaction', view);
}

/** A pending payment, such as a bank debit, is confirmed or declined by the bank later. */
function toStatus({ options }: Sale, { rejection, response }: Partial<Payment>, isPending = false): string {
  if (rejection !== undefined) return 'gateway_rejected';
  if (response) return 'processor_declined';
  if (isPending) return 'settlement_pending';
  return options?.submit_for_settlement ? 'submitted_for_settlement' : 'authorized';
}

/** `GET /transactions/{id}`. */
export function findPayment({ state, now }: ResponseContext, id: string): HttpResponse {
  const payment = state.payments.get(id);
  return payment ? xmlResponse(200, 'transaction', toPaymentView(payment, now())) : emptyResponse(404);
}

/**
 * Reverses a payment: voids it before settlement, refunds it afterwards. The default amount is the rest of the payment.
 */
export function reversePayment(context: ResponseContext, payment: Payment, amountMicros?: number): Payment {
  const { state, now } = context;
  const at = now();
  const status = getStatus(payment, at);
  if (status !== 'settled') {
    const voided = withPaymentStatus(payment, 'voided', at);
    state.payments.set(payment.id, voided);
    return voided;
  }
  const { currency, customerId = '' } = payment;
  const amount = formatAmount({ priceMicros: amountMicros ?? computeRemainingMicros(state, payment) });
  const refund = savePayment(context, { amount, currency, customerId, type: 'credit', refundedId: payment.id });
  const refunded = { ...payment, updatedAt: at, refundIds: [...payment.refundIds, refund.id] };
  state.payments.set(payment.id, refunded);
  return refunded;
}

/** Returns the part of a payment that is not refunded. */
export const computeRemainingMicros = ({ payments }: MerchantState, { amount, refundIds }: Payment): number =>
  refundIds
    .flatMap((id) => payments.get(id) ?? [])
    .filter(({ status }) => status !== 'failed')
    .reduce((rest, refund) => rest - toMicros(refund.amount), toMicros(amount));
