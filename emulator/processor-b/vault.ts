import * as v from 'valibot';
import { addPeriod, countDays } from '../calendar.ts';
import type { HttpResponse } from '../http-messages.ts';
import { billSubscription } from './billing.ts';
import { formatAmount, generateId, type ResponseContext } from './merchant-state.ts';
import { checkNonce, consumeNonce } from './nonces.ts';
import type { Subscription } from './records.ts';
import { declinedResponse, emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { dayMs, toSubscriptionView } from './views.ts';

/** `POST /customers`. */
export function createCustomer({ books }: ResponseContext, body: unknown): HttpResponse {
  const { customer } = v.parse(v.object({ customer: v.object({ id: v.optional(v.string()) }) }), body);
  const id = customer.id ?? generateId(10);
  if (books.customers.has(id)) {
    return validationErrorResponse('customer', {
      code: '91609',
      attribute: 'id',
      message: 'Customer ID has already been taken.',
    });
  }
  books.customers.add(id);
  return xmlResponse(201, 'customer', { id });
}

const NewMethod = v.object({
  payment_method: v.object({
    customer_id: v.string(),
    payment_method_nonce: v.string(),
    token: v.optional(v.string()),
  }),
});

/** `POST /payment_methods`. */
export function createPaymentMethod({ books }: ResponseContext, body: unknown): HttpResponse {
  const { customer_id: customerId, payment_method_nonce: nonce, ...named } = v.parse(NewMethod, body).payment_method;
  const { problem, rejection, response } = checkNonce(books, nonce);
  if (problem) return validationErrorResponse('credit-card', { ...problem, attribute: 'payment_method_nonce' });
  if (!books.customers.has(customerId)) return emptyResponse(404);
  consumeNonce(books, nonce);
  if (rejection || response) {
    const message = response?.text ?? `Gateway Rejected: ${rejection}`;
    return declinedResponse(message, {
      status: 'processor_declined',
      gatewayRejectionReason: rejection ?? null,
      processorResponseText: message,
    });
  }
  const method = { token: named.token ?? generateId(8), customerId, nonce };
  books.methods.set(method.token, method);
  return xmlResponse(201, 'credit-card', { token: method.token, customerId });
}

/** `GET /payment_methods/any/{token}`. */
export function findPaymentMethod({ books }: ResponseContext, id: string): HttpResponse {
  const method = books.methods.get(id);
  return method ? xmlResponse(200, 'credit-card', { token: id, customerId: method.customerId }) : emptyResponse(404);
}

const NewSubscription = v.object({
  subscription: v.object({
    id: v.optional(v.string()),
    payment_method_token: v.string(),
    plan_id: v.string(),
    price: v.optional(v.string()),
  }),
});

/** `POST /subscriptions`. */
export function createSubscription(context: ResponseContext, body: unknown): HttpResponse {
  const { books, now } = context;
  const {
    id = generateId(6),
    payment_method_token,
    plan_id: planId,
    price,
  } = v.parse(NewSubscription, body).subscription;
  const plan = books.products.get(planId);
  const method = books.methods.get(payment_method_token);
  if (!plan?.period)
    return validationErrorResponse('subscription', {
      code: '91904',
      attribute: 'plan_id',
      message: 'Plan ID is invalid.',
    });
  if (!method) {
    const message = 'Payment method token is invalid.';
    return validationErrorResponse('subscription', { code: '91903', attribute: 'payment_method_token', message });
  }
  if (books.subscriptions.has(id)) {
    return validationErrorResponse('subscription', {
      code: '81906',
      attribute: 'id',
      message: 'ID has already been taken.',
    });
  }
  const order = books.pendingOrders.get(method.nonce)?.order ?? plan;
  const at = now();
  const trial = order.trial === true ? plan.period : order.trial || undefined;
  const subscription: Subscription = {
    id,
    planId,
    token: method.token,
    customerId: method.customerId,
    price: price ?? formatAmount(plan),
    currency: plan.currency ?? 'USD',
    months: Math.round(countDays(plan.period) / 30.4375),
    status: 'Active',
    createdAt: at,
    updatedAt: at,
    firstBilling: Math.floor((trial ? addPeriod(at, trial) : at) / dayMs) * dayMs,
    cycles: 0,
    isTrial: trial !== undefined,
    autoRenew: order.autoRenew ?? false,
    history: [{ status: 'Active', timestamp: at }],
    payments: [],
  };
  books.subscriptions.set(id, subscription);
  const begun = trial ? subscription : billSubscription(context, subscription);
  return xmlResponse(201, 'subscription', toSubscriptionView(books, begun, at));
}

/** `GET /subscriptions/{id}`. */
export function findSubscription({ books, now }: ResponseContext, id: string): HttpResponse {
  const subscription = books.subscriptions.get(id);
  return subscription
    ? xmlResponse(200, 'subscription', toSubscriptionView(books, subscription, now()))
    : emptyResponse(404);
}
