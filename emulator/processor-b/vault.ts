import * as v from 'valibot';
import { addPeriod, daysIn } from '../calendar.ts';
import type { Answer } from '../http-messages.ts';
import { bare, declined, invalid, xml } from './answers.ts';
import { bill } from './billing.ts';
import { amountOf, type Source, token } from './books.ts';
import { useUp, verdictOn } from './nonces.ts';
import type { Subscription } from './records.ts';
import { day, subscriptionView } from './views.ts';

/** `POST /customers`. */
export function createCustomer({ books }: Source, body: unknown): Answer {
  const { customer } = v.parse(v.object({ customer: v.object({ id: v.optional(v.string()) }) }), body);
  const id = customer.id ?? token(10);
  if (books.customers.has(id)) {
    return invalid('customer', { code: '91609', attribute: 'id', message: 'Customer ID has already been taken.' });
  }
  books.customers.add(id);
  return xml(201, 'customer', { id });
}

const NewMethod = v.object({
  payment_method: v.object({
    customer_id: v.string(),
    payment_method_nonce: v.string(),
    token: v.optional(v.string()),
  }),
});

/** `POST /payment_methods`. */
export function createMethod({ books }: Source, body: unknown): Answer {
  const { customer_id: customerId, payment_method_nonce: nonce, ...named } = v.parse(NewMethod, body).payment_method;
  const { problem, rejection, response } = verdictOn(books, nonce);
  if (problem) return invalid('credit-card', { ...problem, attribute: 'payment_method_nonce' });
  if (!books.customers.has(customerId)) return bare(404);
  useUp(books, nonce);
  if (rejection || response) {
    const message = response?.text ?? `Gateway Rejected: ${rejection}`;
    return declined(message, {
      status: 'processor_declined',
      gatewayRejectionReason: rejection ?? null,
      processorResponseText: message,
    });
  }
  const method = { token: named.token ?? token(8), customerId, nonce };
  books.methods.set(method.token, method);
  return xml(201, 'credit-card', { token: method.token, customerId });
}

/** `GET /payment_methods/any/{token}`. */
export function findMethod({ books }: Source, id: string): Answer {
  const method = books.methods.get(id);
  return method ? xml(200, 'credit-card', { token: id, customerId: method.customerId }) : bare(404);
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
export function createSubscription(source: Source, body: unknown): Answer {
  const { books, now } = source;
  const { id = token(6), payment_method_token, plan_id: planId, price } = v.parse(NewSubscription, body).subscription;
  const plan = books.products.get(planId);
  const method = books.methods.get(payment_method_token);
  if (!plan?.period)
    return invalid('subscription', { code: '91904', attribute: 'plan_id', message: 'Plan ID is invalid.' });
  if (!method) {
    const message = 'Payment method token is invalid.';
    return invalid('subscription', { code: '91903', attribute: 'payment_method_token', message });
  }
  if (books.subscriptions.has(id)) {
    return invalid('subscription', { code: '81906', attribute: 'id', message: 'ID has already been taken.' });
  }
  const order = books.wishes.get(method.nonce)?.order ?? plan;
  const at = now();
  const trial = order.trial === true ? plan.period : order.trial || undefined;
  const subscription: Subscription = {
    id,
    planId,
    token: method.token,
    customerId: method.customerId,
    price: price ?? amountOf(plan),
    currency: plan.currency ?? 'USD',
    months: Math.round(daysIn(plan.period) / 30.4375),
    status: 'Active',
    createdAt: at,
    updatedAt: at,
    firstBilling: Math.floor((trial ? addPeriod(at, trial) : at) / day) * day,
    cycles: 0,
    isTrial: trial !== undefined,
    autoRenew: order.autoRenew ?? false,
    history: [{ status: 'Active', timestamp: at }],
    payments: [],
  };
  books.subscriptions.set(id, subscription);
  const begun = trial ? subscription : bill(source, subscription);
  return xml(201, 'subscription', subscriptionView(books, begun, at));
}

/** `GET /subscriptions/{id}`. */
export function findSubscription({ books, now }: Source, id: string): Answer {
  const subscription = books.subscriptions.get(id);
  return subscription ? xml(200, 'subscription', subscriptionView(books, subscription, now())) : bare(404);
}
