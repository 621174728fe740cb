import type { BraintreeGateway, Transaction } from 'braintree';
import { withoutPlatform } from '../../foundation/platform.ts';
import { type ActionRequest, rejectedActionError, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { storeName } from './api-errors.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { toDecimalAmount, toMicros } from './money.ts';
import { BraintreeTransaction, parseBraintreeObject } from './payloads.ts';

/** Performs an action by the Braintree API. Throws `Conflict` if Braintree rejects it. */
export async function performAction(request: ActionRequest, context: StoreContext): Promise<StoreAnswer> {
  const gateway = await createGateway(context);
  if (request.action === 'refund') return await refund(request, gateway);
  const id = withoutPlatform(request.purchase.purchaseId);
  const result = await callBraintree(() => gateway.subscription.cancel(id));
  if (!result.success) throw rejectedActionError(storeName, result.message);
  return { status: 'canceled' };
}

/** Statuses in which a payment is not collected yet. */
const voidableStatuses: ReadonlySet<string> = new Set(['authorized', 'submitted_for_settlement', 'settlement_pending']);

/** Options of a refund. The types of the package lack the idempotency key. */
type RefundOptions = Parameters<BraintreeGateway['transaction']['refund']>[1];

/**
 * Refunds a settled payment or a part of it. Before the settlement, a payment is voided as a whole.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/transaction/refund/node
 */
async function refund(
  { payment, amountMicros, isPart, requestId }: ActionRequest,
  gateway: BraintreeGateway,
): Promise<StoreAnswer> {
  const transactionId = withoutPlatform(payment?.transactionId ?? '');
  // A product of a cart adds itself to the id of the payment.
  const [id = ''] = transactionId.split(':', 1);
  const found = parseBraintreeObject(BraintreeTransaction, await callBraintree(() => gateway.transaction.find(id)));
  const currency = found.currencyIsoCode ?? 'USD';
  const isWhole = !isPart && found.refundIds.length === 0 && amountMicros === toMicros(found.amount);
  if (voidableStatuses.has(found.status)) {
    if (!isWhole) throw rejectedActionError(storeName, 'the payment has not settled, so only all of it can be voided.');
    return toAnswer(await callBraintree(() => gateway.transaction.void(id)), currency);
  }
  const options = {
    apiRequestKey: requestId,
    ...(amountMicros !== undefined && { amount: toDecimalAmount(amountMicros, currency) }),
  };
  return toAnswer(
    await callBraintree(() => gateway.transaction.refund(id, options as unknown as RefundOptions)),
    currency,
  );
}

function toAnswer(
  result: { readonly success: boolean; readonly message?: string; readonly transaction?: Transaction },
  currency: string,
): StoreAnswer {
  const { success, message = '', transaction } = result;
  if (!success || !transaction) throw rejectedActionError(storeName, message);
  const { id, status, amount } = parseBraintreeObject(BraintreeTransaction, transaction);
  return { status, id, amountMicros: toMicros(amount), currency };
}
