import * as v from 'valibot';
import { isValiError } from 'valibot';
import type { Answer, StoreCall } from '../http-messages.ts';
import { bare, invalid, xml } from './answers.ts';
import { amountOf, type Source, token } from './books.ts';
import { cancel } from './life.ts';
import { findPayment, giveBack, sell } from './sales.ts';
import { searchIds } from './search.ts';
import { createCustomer, createMethod, createSubscription, findMethod, findSubscription } from './vault.ts';
import { paymentView, statusAt } from './views.ts';

type Respond = (source: Source, asked: { readonly id: string; readonly body: unknown }) => Answer;

const routes: readonly (readonly [method: string, path: RegExp, respond: Respond])[] = [
  ['POST', /^client_token$/, (source, { body }) => clientToken(source, body)],
  ['POST', /^transactions$/, (source, { body }) => sell(source, body)],
  ['POST', /^transactions\/advanced_search_ids$/, (source, { body }) => searchIds(source, body)],
  ['GET', /^transactions\/([\w-]+)$/, (source, { id }) => findPayment(source, id)],
  ['PUT', /^transactions\/([\w-]+)\/void$/, (source, { id }) => takeBack(source, id, 'void')],
  ['POST', /^transactions\/([\w-]+)\/refund$/, (source, { id }) => takeBack(source, id, 'refund')],
  ['POST', /^customers$/, (source, { body }) => createCustomer(source, body)],
  [
    'GET',
    /^customers\/([\w-]+)$/,
    ({ books }, { id }) => (books.customers.has(id) ? xml(200, 'customer', { id }) : bare(404)),
  ],
  ['POST', /^payment_methods$/, (source, { body }) => createMethod(source, body)],
  ['GET', /^payment_methods\/any\/([\w-]+)$/, (source, { id }) => findMethod(source, id)],
  ['POST', /^subscriptions$/, (source, { body }) => createSubscription(source, body)],
  ['GET', /^subscriptions\/([\w-]+)$/, (source, { id }) => findSubscription(source, id)],
  ['PUT', /^subscriptions\/([\w-]+)\/cancel$/, (source, { id }) => cancelled(source, id)],
  ['GET', /^plans$/, (source) => plans(source)],
];

/** Answers a call of the gateway's API. */
export function answerCall(source: Source, { method, path, headers, body }: StoreCall): Answer {
  const { merchantId, publicKey, privateKey } = source.books;
  const expected = `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}`;
  const prefix = `/merchants/${merchantId}/`;
  if (headers.authorization !== expected) return bare(401);
  if (!path.startsWith(prefix)) return bare(403);
  for (const [verb, pattern, respond] of routes) {
    const match = verb === method && pattern.exec(path.slice(prefix.length));
    if (match) return responded(() => respond(source, { id: match[1] ?? '', body: jsonOf(body) }));
  }
  return bare(404);
}

function responded(respond: () => Answer): Answer {
  try {
    return respond();
  } catch (thrown) {
    if (!isValiError(thrown) && !(thrown instanceof SyntaxError)) throw thrown;
    return bare(400);
  }
}

const jsonOf = (body: Buffer): unknown => (body.length === 0 ? {} : JSON.parse(body.toString('utf8')));

function clientToken({ books }: Source, body: unknown): Answer {
  const Wanted = v.object({ client_token: v.object({ customer_id: v.optional(v.string()) }) });
  const { customer_id: id } = v.parse(Wanted, body).client_token;
  if (id !== undefined && !books.customers.has(id)) {
    const message = 'Customer specified by customer_id does not exist';
    return invalid('client-token', { code: '92804', attribute: 'customer_id', message });
  }
  const content = {
    version: 2,
    environment: 'sandbox',
    merchantId: books.merchantId,
    authorizationFingerprint: token(40),
  };
  return xml(201, 'client-token', { value: Buffer.from(JSON.stringify(content)).toString('base64') });
}

function takeBack(source: Source, id: string, how: 'void' | 'refund'): Answer {
  const payment = source.books.payments.get(id);
  if (!payment) return bare(404);
  const isSettled = statusAt(payment, source.now()) === 'settled';
  if (payment.status === 'voided' || payment.refundIds.length > 0 || isSettled !== (how === 'refund')) {
    const [code, message] =
      how === 'void'
        ? ['91504', 'Transaction can only be voided if status is authorized or submitted_for_settlement.']
        : ['91506', 'Cannot refund a transaction unless it is settled.'];
    return invalid('transaction', { code, attribute: 'base', message });
  }
  const changed = giveBack(source, payment);
  const shown = source.books.payments.get(changed.refundIds[0] ?? '') ?? changed;
  return xml(200, 'transaction', paymentView(shown, source.now()));
}

function cancelled(source: Source, id: string): Answer {
  const subscription = source.books.subscriptions.get(id);
  if (!subscription) return bare(404);
  if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
    return invalid('subscription', {
      code: '81905',
      attribute: 'status',
      message: 'Subscription has already been canceled.',
    });
  }
  cancel(source, subscription);
  return findSubscription(source, id);
}

const plans = ({ books }: Source): Answer =>
  xml(
    200,
    'plans',
    [...books.products.values()]
      .filter(({ period }) => period !== undefined)
      .map((plan) => ({ id: plan.productId, price: amountOf(plan), currencyIsoCode: plan.currency ?? 'USD' })),
  );
