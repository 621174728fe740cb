import * as v from 'valibot';
import { isValiError } from 'valibot';
import type { HttpResponse, StoreHttpRequest } from '../http-messages.ts';
import { emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { formatAmount, generateId, type ResponseContext } from './merchant-state.ts';
import { cancelSubscription } from './actions.ts';
import { createTransaction, findPayment, reversePayment } from './transactions.ts';
import { searchIds } from './search.ts';
import {
  createCustomer,
  createPaymentMethod,
  createSubscription,
  findPaymentMethod,
  findSubscription,
} from './vault.ts';
import { getStatus, toPaymentView } from './views.ts';

type Respond = (source: ResponseContext, asked: { readonly id: string; readonly body: unknown }) => HttpResponse;

const routes: readonly (readonly [method: string, path: RegExp, respond: Respond])[] = [
  ['POST', /^client_token$/, (source, { body }) => clientToken(source, body)],
  ['POST', /^transactions$/, (source, { body }) => createTransaction(source, body)],
  ['POST', /^transactions\/advanced_search_ids$/, (source, { body }) => searchIds(source, body)],
  ['GET', /^transactions\/([\w-]+)$/, (source, { id }) => findPayment(source, id)],
  ['PUT', /^transactions\/([\w-]+)\/void$/, (source, { id }) => reverseTransaction(source, id, 'void')],
  ['POST', /^transactions\/([\w-]+)\/refund$/, (source, { id }) => reverseTransaction(source, id, 'refund')],
  ['POST', /^customers$/, (source, { body }) => createCustomer(source, body)],
  [
    'GET',
    /^customers\/([\w-]+)$/,
    ({ books }, { id }) => (books.customers.has(id) ? xmlResponse(200, 'customer', { id }) : emptyResponse(404)),
  ],
  ['POST', /^payment_methods$/, (source, { body }) => createPaymentMethod(source, body)],
  ['GET', /^payment_methods\/any\/([\w-]+)$/, (source, { id }) => findPaymentMethod(source, id)],
  ['POST', /^subscriptions$/, (source, { body }) => createSubscription(source, body)],
  ['GET', /^subscriptions\/([\w-]+)$/, (source, { id }) => findSubscription(source, id)],
  ['PUT', /^subscriptions\/([\w-]+)\/cancel$/, (source, { id }) => handleCancel(source, id)],
  ['GET', /^plans$/, (source) => plans(source)],
];

/** Answers a call of the gateway's API. */
export function handleCall(source: ResponseContext, { method, path, headers, body }: StoreHttpRequest): HttpResponse {
  const { merchantId, publicKey, privateKey } = source.books;
  const expected = `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}`;
  const prefix = `/merchants/${merchantId}/`;
  if (headers.authorization !== expected) return emptyResponse(401);
  if (!path.startsWith(prefix)) return emptyResponse(403);
  for (const [verb, pattern, respond] of routes) {
    const match = verb === method && pattern.exec(path.slice(prefix.length));
    if (match) return respondOrFail(() => respond(source, { id: match[1] ?? '', body: parseJson(body) }));
  }
  return emptyResponse(404);
}

function respondOrFail(respond: () => HttpResponse): HttpResponse {
  try {
    return respond();
  } catch (thrown) {
    if (!isValiError(thrown) && !(thrown instanceof SyntaxError)) throw thrown;
    return emptyResponse(400);
  }
}

const parseJson = (body: Buffer): unknown => (body.length === 0 ? {} : JSON.parse(body.toString('utf8')));

function clientToken({ books }: ResponseContext, body: unknown): HttpResponse {
  const Wanted = v.object({ client_token: v.object({ customer_id: v.optional(v.string()) }) });
  const { customer_id: id } = v.parse(Wanted, body).client_token;
  if (id !== undefined && !books.customers.has(id)) {
    const message = 'Customer specified by customer_id does not exist';
    return validationErrorResponse('client-token', { code: '92804', attribute: 'customer_id', message });
  }
  const content = {
    version: 2,
    environment: 'sandbox',
    merchantId: books.merchantId,
    authorizationFingerprint: generateId(40),
  };
  return xmlResponse(201, 'client-token', { value: Buffer.from(JSON.stringify(content)).toString('base64') });
}

function reverseTransaction(source: ResponseContext, id: string, how: 'void' | 'refund'): HttpResponse {
  const payment = source.books.payments.get(id);
  if (!payment) return emptyResponse(404);
  const isSettled = getStatus(payment, source.now()) === 'settled';
  if (payment.status === 'voided' || payment.refundIds.length > 0 || isSettled !== (how === 'refund')) {
    const [code, message] =
      how === 'void'
        ? ['91504', 'Transaction can only be voided if status is authorized or submitted_for_settlement.']
        : ['91506', 'Cannot refund a transaction unless it is settled.'];
    return validationErrorResponse('transaction', { code, attribute: 'base', message });
  }
  const changed = reversePayment(source, payment);
  const shown = source.books.payments.get(changed.refundIds[0] ?? '') ?? changed;
  return xmlResponse(200, 'transaction', toPaymentView(shown, source.now()));
}

function handleCancel(source: ResponseContext, id: string): HttpResponse {
  const subscription = source.books.subscriptions.get(id);
  if (!subscription) return emptyResponse(404);
  if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
    return validationErrorResponse('subscription', {
      code: '81905',
      attribute: 'status',
      message: 'Subscription has already been canceled.',
    });
  }
  cancelSubscription(source, subscription);
  return findSubscription(source, id);
}

const plans = ({ books }: ResponseContext): HttpResponse =>
  xmlResponse(
    200,
    'plans',
    [...books.products.values()]
      .filter(({ period }) => period !== undefined)
      .map((plan) => ({ id: plan.productId, price: formatAmount(plan), currencyIsoCode: plan.currency ?? 'USD' })),
  );
