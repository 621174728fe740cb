import * as v from 'valibot';
import { isValiError } from 'valibot';
import type { HttpResponse, StoreHttpRequest } from '../http-messages.ts';
import { cancelSubscription } from './actions.ts';
import { formatAmount, generateId, type ResponseContext } from './merchant-state.ts';
import { emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { searchIds } from './search.ts';
import { computeRemainingMicros, createTransaction, findPayment, reversePayment } from './transactions.ts';
import {
  createCustomer,
  createPaymentMethod,
  createSubscription,
  findCustomer,
  findPaymentMethod,
  findSubscription,
} from './vault.ts';
import { getStatus, toPaymentView } from './views.ts';

type Respond = (context: ResponseContext, request: { readonly id: string; readonly body: unknown }) => HttpResponse;

const routes: readonly (readonly [method: string, path: RegExp, respond: Respond, access?: 'reads'])[] = [
  ['POST', /^client_token$/, (context, { body }) => generateClientToken(context, body), 'reads'],
  ['POST', /^transactions$/, (context, { body }) => createTransaction(context, body)],
  ['POST', /^transactions\/advanced_search_ids$/, (context, { body }) => searchIds(context, body), 'reads'],
  ['GET', /^transactions\/([\w-]+)$/, (context, { id }) => findPayment(context, id)],
  ['PUT', /^transactions\/([\w-]+)\/void$/, (context, { id }) => voidTransaction(context, id)],
  ['POST', /^transactions\/([\w-]+)\/refund$/, (context, { id, body }) => refundTransaction(context, id, body)],
  ['POST', /^customers$/, (context, { body }) => createCustomer(context, body)],
  ['GET', /^customers\/([\w-]+)$/, (context, { id }) => findCustomer(context, id)],
  ['POST', /^payment_methods$/, (context, { body }) => createPaymentMethod(context, body)],
  ['GET', /^payment_methods\/any\/([\w-]+)$/, (context, { id }) => findPaymentMethod(context, id)],
  ['POST', /^subscriptions$/, (context, { body }) => createSubscription(context, body)],
  ['GET', /^subscriptions\/([\w-]+)$/, (context, { id }) => findSubscription(context, id)],
  ['PUT', /^subscriptions\/([\w-]+)\/cancel$/, (context, { id }) => handleCancel(context, id)],
  ['GET', /^plans$/, (context) => listPlans(context)],
];

/** Handles a request to the gateway API. */
export function handleCall(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const { merchantId, publicKey, privateKey } = context.state;
  const expected = `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}`;
  if (call.headers.authorization !== expected) return emptyResponse(401);
  if (!call.path.startsWith(`/merchants/${merchantId}/`)) return emptyResponse(403);
  const [match, respond] = findRoute(call) ?? [];
  if (match === undefined || respond === undefined) return emptyResponse(404);
  return respondOrFail(() => respond(context, { id: match[1] ?? '', body: parseJson(call.body) }));
}

/** Returns whether a route by POST only reads. */
export const isQuery = (call: StoreHttpRequest): boolean => findRoute(call)?.[2] === 'reads';

function findRoute({ method, path }: StoreHttpRequest) {
  for (const [verb, pattern, respond, access] of routes) {
    const match = verb === method && pattern.exec(path.replace(/^\/merchants\/[^/]+\//, ''));
    if (match) return [match, respond, access] as const;
  }
  return undefined;
}

function respondOrFail(respond: () => HttpResponse): HttpResponse {
  try {
    return respond();
  } catch (error) {
    if (!isValiError(error) && !(error instanceof SyntaxError)) throw error;
    return emptyResponse(400);
  }
}

const parseJson = (body: Buffer): unknown => (body.length === 0 ? {} : JSON.parse(body.toString('utf8')));

function generateClientToken({ state }: ResponseContext, body: unknown): HttpResponse {
  const Request = v.object({ client_token: v.object({ customer_id: v.optional(v.string()) }) });
  const { customer_id: id } = v.parse(Request, body).client_token;
  if (id !== undefined && !state.customers.has(id)) {
    const message = 'Customer specified by customer_id does not exist';
    return validationErrorResponse('client-token', { code: '92804', attribute: 'customer_id', message });
  }
  const content = {
    version: 2,
    environment: 'sandbox',
    merchantId: state.merchantId,
    authorizationFingerprint: `${generateId(40)}?customer_id=${id ?? ''}`,
  };
  return xmlResponse(201, 'client-token', { value: Buffer.from(JSON.stringify(content)).toString('base64') });
}

/** @see https://developer.paypal.com/braintree/docs/reference/request/transaction/void/node */
function voidTransaction(context: ResponseContext, id: string): HttpResponse {
  const payment = context.state.payments.get(id);
  if (!payment) return emptyResponse(404);
  if (payment.status === 'voided' || getStatus(payment, context.now()) === 'settled')
    return transactionError(
      '91504',
      'Transaction can only be voided if status is authorized or submitted_for_settlement.',
    );
  return xmlResponse(200, 'transaction', toPaymentView(reversePayment(context, payment), context.now()));
}

const RefundBody = v.object({
  transaction: v.optional(
    v.object({
      amount: v.optional(v.pipe(v.string(), v.regex(/^\d+(\.\d{1,3})?$/))),
      order_id: v.optional(v.string()),
      api_request_key: v.optional(v.string()),
    }),
    {},
  ),
});

/**
 * Refunds a settled payment or a part of it. A repeated request key returns the first refund.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/transaction/refund/node
 */
function refundTransaction(context: ResponseContext, id: string, body: unknown): HttpResponse {
  const { state, now } = context;
  const payment = state.payments.get(id);
  if (!payment) return emptyResponse(404);
  const { amount, api_request_key: requestKey } = v.parse(RefundBody, body).transaction;
  const existing = [...state.payments.values()].find(
    (candidate) => requestKey !== undefined && candidate.requestKey === requestKey,
  );
  if (existing) return xmlResponse(201, 'transaction', toPaymentView(existing, now()));
  if (getStatus(payment, now()) !== 'settled')
    return transactionError('91506', 'Cannot refund a transaction unless it is settled.');
  const remaining = computeRemainingMicros(state, payment);
  if (remaining <= 0) return transactionError('91512', 'Transaction has already been fully refunded.');
  const micros = amount === undefined ? remaining : Math.round(Number(amount) * 1_000_000);
  if (micros > remaining) return transactionError('91521', 'Refund amount is too large.', 'amount');
  const { refundIds } = reversePayment(context, payment, micros);
  const refund = state.payments.get(refundIds.at(-1) ?? '');
  if (!refund) return emptyResponse(404);
  const keyed = { ...refund, ...(requestKey !== undefined && { requestKey }) };
  state.payments.set(refund.id, keyed);
  return xmlResponse(201, 'transaction', toPaymentView(keyed, now()));
}

/** @see https://developer.paypal.com/braintree/docs/reference/general/validation-errors/all/node */
const transactionError = (code: string, message: string, attribute = 'base'): HttpResponse =>
  validationErrorResponse('transaction', { code, attribute, message });

function handleCancel(context: ResponseContext, id: string): HttpResponse {
  const subscription = context.state.subscriptions.get(id);
  if (!subscription) return emptyResponse(404);
  if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
    return validationErrorResponse('subscription', {
      code: '81905',
      attribute: 'status',
      message: 'Subscription has already been canceled.',
    });
  }
  cancelSubscription(context, subscription);
  return findSubscription(context, id);
}

const listPlans = ({ state }: ResponseContext): HttpResponse =>
  xmlResponse(
    200,
    'plans',
    [...state.products.values()]
      .filter(({ period }) => period !== undefined)
      .map((plan) => ({ id: plan.productId, price: formatAmount(plan), currencyIsoCode: plan.currency ?? 'USD' })),
  );
