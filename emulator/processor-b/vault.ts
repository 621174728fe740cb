import * as v from 'valibot';
import { addPeriod, countDays, dayMs } from '../calendar.ts';
import type { HttpResponse } from '../http-messages.ts';
import { billSubscription } from './billing.ts';
import { formatAmount, generateId, type ResponseContext } from './merchant-state.ts';
import { checkNonce, consumeNonce } from './nonces.ts';
import type { Subscription } from './records.ts';
import { declinedResponse, emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { toSubscriptionView } from './views.ts';

/** `POST /customers`. */
export function createCustomer({ state }: ResponseContext, body: unknown): HttpResponse {
  const { customer } = v.parse(v.object({ customer: v.object({ id: v.optional(v.string()) }) }), body);
  const id = customer.id ?? generateId(10);
  if (state.customers.has(id)) {
    return validationErrorResponse('customer', {
      code: '91609',
      attribute: 'id',
      message: 'Customer ID has already been taken.',
    });
  }
  state.customers.add(id);
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
export function createPaymentMethod({ state }: ResponseContext, body: unknown): HttpResponse {
  const { customer_id: customerId, payment_method_nonce: nonce, token } = v.parse(NewMethod, body).payment_method;
  const { problem, rejection, response } = checkNonce(state, nonce);
  if (problem) return validationErrorResponse('credit-card', { ...problem, attribute: 'payment_method_nonce' });
  if (!state.customers.has(customerId)) return emptyResponse(404);
  consumeNonce(state, nonce);
  if (rejection || response) {
    const message = response?.text ?? `Gateway Rejected: ${rejection}`;
    return declinedResponse(message, {
      status: 'processor_declined',
      gatewayRejectionReason: rejection ?? null,
      processorResponseText: message,
    });
  }
  const method = { token: token ?? generateId(8), customerId, nonce };
  state.methods.set(method.token, method);
  return xmlResponse(201, 'credit-card', { token: method.token, customerId });
}

/** `GET /payment_methods/any/{token}`. */
export function findPaymentMethod({ state }: ResponseContext, id: string): HttpResponse {
  const method = state.methods.get(id);
  return method ? xmlResponse(200, 'credit-card', { token: id, customerId: method.customerId }) : emptyResponse(404);
}

/** Time until the first billing date of a pending subscription. */
const pendingPeriod = 'P7D';

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
  const { state, now } = context;
  const {
    id = generateId(6),
    payment_method_token,
    plan_id: planId,
    price,
  } = v.parse(NewSubscription, body).subscription;
  const plan = state.products.get(planId);
  const method = state.methods.get(payment_method_token);
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
  if (state.subscriptions.has(id)) {
    return validationErrorResponse('subscription', {
      code: '81906',
      attribute: 'id',
      message: 'ID has already been taken.',
    });
  }
  const order = state.pendingOrders.get(method.nonce)?.order ?? plan;
  const at = now();
  const trial = order.trial === true ? plan.period : order.trial || undefined;
  const status = order.pending ? 'Pending' : 'Active';
  const start = order.pending ? pendingPeriod : trial;
  const subscription: Subscription = {
    id,
    planId,
    token: method.token,
    customerId: method.customerId,
    price: price ?? formatAmount(plan),
    currency: plan.currency ?? 'USD',
    months: Math.round(countDays(plan.period) / 30.4375),
    status,
    createdAt: at,
    updatedAt: at,
    firstBilling: Math.floor((start === undefined ? at : addPeriod(at, start)) / dayMs) * dayMs,
    cycles: 0,
    isTrial: trial !== undefined,
    autoRenew: order.autoRenew ?? false,
    history: [{ status, timestamp: at }],
    payments: [],
  };
  state.subscriptions.set(id, subscription);
  const started = trial || status === 'Pending' ? subscription : billSubscription(context, subscription);
  return xmlResponse(201, 'subscription', toSubscriptionView(state, started, at));
}

/** `GET /subscriptions/{id}`. */
export function findSubscription({ state, now }: ResponseContext, id: string): HttpResponse {
  const subscription = state.subscriptions.get(id);
  return subscription
    ? xmlResponse(200, 'subscription', toSubscriptionView(state, subscription, now()))
    : emptyResponse(404);
}
