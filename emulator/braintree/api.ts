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

const routes: readonly (readonly [method: string, path: RegExp, respond: Respond])[] = [
  ['POST', /^client_token$/, (context, { body }) => generateClientToken(context, body)],
  ['POST', /^transactions$/, (context, { body }) => createTransaction(context, body)],
  ['POST', /^transactions\/advanced_search_ids$/, (context, { body }) => searchIds(context, body)],
  ['GET', /^transactions\/([\w-]+)$/, (context, { id }) => findPayment(context, id)],
  ['PUT', /^transactions\/([\w-]+)\/void$/, (context, { id }) => reverseTransaction(context, id, 'void')],
  ['POST', /^transactions\/([\w-]+)\/refund$/, (context, { id }) => reverseTransaction(context, id, 'refund')],
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
export function handleCall(context: ResponseContext, { method, path, headers, body }: StoreHttpRequest): HttpResponse {
  const { merchantId, publicKey, privateKey } = context.state;
  const expected = `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}`;
  const prefix = `/merchants/${merchantId}/`;
  if (headers.authorization !== expected) return emptyResponse(401);
  if (!path.startsWith(prefix)) return emptyResponse(403);
  for (const [verb, pattern, respond] of routes) {
    const match = verb === method && pattern.exec(path.slice(prefix.length));
    if (match) return respondOrFail(() => respond(context, { id: match[1] ?? '', body: parseJson(body) }));
  }
  return emptyResponse(404);
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

function reverseTransaction(context: ResponseContext, id: string, operation: 'void' | 'refund'): HttpResponse {
  const payment = context.state.payments.get(id);
  if (!payment) return emptyResponse(404);
  const isSettled = getStatus(payment, context.now()) === 'settled';
  if (
    payment.status === 'voided' ||
    computeRemainingMicros(context.state, payment) <= 0 ||
    isSettled !== (operation === 'refund')
  ) {
    const [code, message] =
      operation === 'void'
        ? ['91504', 'Transaction can only be voided if status is authorized or submitted_for_settlement.']
        : ['91506', 'Cannot refund a transaction unless it is settled.'];
    return validationErrorResponse('transaction', { code, attribute: 'base', message });
  }
  const reversed = reversePayment(context, payment);
  const result = context.state.payments.get(reversed.refundIds.at(-1) ?? '') ?? reversed;
  return xmlResponse(200, 'transaction', toPaymentView(result, context.now()));
}

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
