import * as v from 'valibot';
import { addPeriod, countDays, toLocalDay } from '../calendar.ts';
import type { HttpResponse } from '../http-messages.ts';
import { billSubscription } from './billing.ts';
import { gatewayTimeZone } from './gateway-time-zone.ts';
import {
  formatAmount,
  generateCustomerId,
  generateId,
  type MerchantState,
  type ResponseContext,
} from './merchant-state.ts';
import { checkNonce, consumeNonce } from './nonces.ts';
import type { PaymentMethod, Subscription } from './records.ts';
import { declinedResponse, emptyResponse, validationErrorResponse, xmlResponse } from './responses.ts';
import { toSubscriptionView } from './views.ts';

const NewCustomer = v.object({
  customer: v.object({ id: v.optional(v.string()), payment_method_nonce: v.optional(v.string()) }),
});

/** `POST /customers`: creates a customer, with a payment method if there is a nonce. */
export function createCustomer(context: ResponseContext, body: unknown): HttpResponse {
  const { state } = context;
  const { id = generateCustomerId(), payment_method_nonce: nonce } = v.parse(NewCustomer, body).customer;
  if (state.customers.has(id)) {
    return validationErrorResponse('customer', {
      code: '91609',
      attribute: 'id',
      message: 'Customer ID has already been taken.',
    });
  }
  if (nonce === undefined) {
    state.customers.add(id);
    return findCustomer(context, id, 201);
  }
  if (state.pendingOrders.get(nonce)?.customerId !== undefined) {
    return validationErrorResponse('customer', {
      code: '91617',
      attribute: 'payment_method_nonce',
      message: 'Vaulted payment instrument nonce belongs to a different customer.',
    });
  }
  return storePaymentMethod(state, { customerId: id, nonce }) ?? findCustomer(context, id, 201);
}

/** `GET /customers/{id}`. */
export function findCustomer({ state }: ResponseContext, id: string, status = 200): HttpResponse {
  if (!state.customers.has(id)) return emptyResponse(404);
  const methods = [...state.methods.values()].filter(({ customerId }) => customerId === id);
  return xmlResponse(status, 'customer', { id, creditCards: methods.map(({ token }) => ({ token, customerId: id })) });
}

/** Stores the payment method of a nonce, and its customer. Returns the response if Braintree rejects the nonce. */
function storePaymentMethod(
  state: MerchantState,
  { customerId, nonce, token = generateId(8) }: { customerId: string; nonce: string; token?: string | undefined },
): HttpResponse | undefined {
  const { problem, rejection, response } = checkNonce(state, nonce);
  if (problem) return validationErrorResponse('credit-card', { ...problem, attribute: 'payment_method_nonce' });
  consumeNonce(state, nonce);
  if (rejection || response) {
    const message = response?.text ?? `Gateway Rejected: ${rejection}`;
    return declinedResponse(message, {
      status: 'processor_declined',
      gatewayRejectionReason: rejection ?? null,
      processorResponseText: message,
    });
  }
  state.customers.add(customerId);
  state.methods.set(token, { token, customerId, nonce });
  return undefined;
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
  const method = v.parse(NewMethod, body).payment_method;
  const { customer_id: customerId, payment_method_nonce: nonce, token = generateId(8) } = method;
  if (!state.customers.has(customerId)) return emptyResponse(404);
  return (
    storePaymentMethod(state, { customerId, nonce, token }) ?? xmlResponse(201, 'credit-card', { token, customerId })
  );
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
    payment_method_token: v.optional(v.string()),
    payment_method_nonce: v.optional(v.string()),
    plan_id: v.string(),
    price: v.optional(v.string()),
  }),
});

/** Finds the payment method of a nonce that a payment form created with the token of a customer. */
function findVaultedMethod(state: MerchantState, nonce: string): PaymentMethod | undefined {
  const customerId = state.pendingOrders.get(nonce)?.customerId;
  if (customerId === undefined || checkNonce(state, nonce).problem) return undefined;
  const method = { token: generateId(8), customerId, nonce };
  state.methods.set(method.token, method);
  return method;
}

/** `POST /subscriptions`. */
export function createSubscription(context: ResponseContext, body: unknown): HttpResponse {
  const { state, now } = context;
  const {
    id = generateId(6),
    payment_method_token: token,
    payment_method_nonce: nonce,
    plan_id: planId,
    price,
  } = v.parse(NewSubscription, body).subscription;
  const plan = state.products.get(planId);
  const method = nonce === undefined ? state.methods.get(token ?? '') : findVaultedMethod(state, nonce);
  if (!plan?.period)
    return validationErrorResponse('subscription', {
      code: '91904',
      attribute: 'plan_id',
      message: 'Plan ID is invalid.',
    });
  if (!method && nonce !== undefined) {
    const message = 'Payment method nonce represents an un-vaulted payment instrument.';
    return validationErrorResponse('subscription', { code: '91927', attribute: 'payment_method_nonce', message });
  }
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
  if (nonce !== undefined) consumeNonce(state, nonce);
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
    ...(order.country !== undefined && { country: order.country }),
    ...(order.taxRate !== undefined && { taxRate: order.taxRate }),
    ...(order.freeCycles !== undefined && { freeCycles: order.freeCycles }),
    months: Math.round(countDays(plan.period) / 30.4375),
    status,
    createdAt: at,
    updatedAt: at,
    firstBilling: toLocalDay(start === undefined ? at : addPeriod(at, start), gatewayTimeZone),
    cycles: 0,
    isTrial: trial !== undefined,
    autoRenew: order.autoRenew ?? false,
    history: [{ status, timestamp: at, planId }],
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
