import { emitSubscriptionWebhook } from './emit-webhooks.ts';
import { buildTaxAmount, formatAmount, generateId, type ResponseContext, toMicros } from './merchant-state.ts';
import { approvedResponse, type Payment, type Subscription } from './records.ts';
import { getBillingPeriod, getNextBillingTime } from './views.ts';

/** Saves a payment. The default is an approved sale that is submitted for settlement. */
export function savePayment(
  { state, now }: ResponseContext,
  details: Pick<Payment, 'amount' | 'currency'> & Partial<Payment>,
): Payment {
  const at = now();
  const payment: Payment = {
    id: generateId(8),
    type: 'sale',
    status: 'submitted_for_settlement',
    createdAt: at,
    updatedAt: at,
    refundIds: [],
    response: approvedResponse,
    ...details,
  };
  state.payments.set(payment.id, payment);
  return payment;
}

/** Copies a payment with another status from `at` on. */
export const withPaymentStatus = (payment: Payment, status: string, at: number): Payment => ({
  ...payment,
  status,
  updatedAt: at,
  history: [{ status: payment.status, timestamp: payment.createdAt }, ...(payment.history ?? [])],
});

/**
 * Bills a subscription successfully and starts its next period. A period that a discount or the balance pays for does
 * not have a transaction.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/overview
 */
export function billSubscription(
  context: ResponseContext,
  subscription: Subscription,
  at = context.now(),
): Subscription {
  const { id, price, cycles, isTrial, status, freeFrom = 0, freeCycles = 0, balanceMicros = 0 } = subscription;
  const isFree = cycles >= freeFrom && cycles < freeFrom + freeCycles;
  const dueMicros = (isFree ? 0 : toMicros(price)) + balanceMicros;
  const isCharged = dueMicros > 0;
  const charged = isCharged ? chargeSubscription(context, subscription, { at, micros: dueMicros }) : subscription;
  const paid = { ...withStatus(charged, 'Active', at), isRetrying: false };
  context.state.subscriptions.set(id, { ...paid, cycles: cycles + 1, balanceMicros: Math.min(0, dueMicros) });
  // A subscription with a trial is active from its start, so Braintree does not send subscription_went_active for it.
  // https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
  if (cycles === 0 && isTrial) emitSubscriptionWebhook(context, 'subscription_trial_ended', { id, at });
  if (status === 'Past Due' || (cycles === 0 && !isTrial))
    emitSubscriptionWebhook(context, 'subscription_went_active', { id, at });
  const event = isCharged ? 'subscription_charged_successfully' : 'subscription_billing_skipped';
  emitSubscriptionWebhook(context, event, { id, at });
  return context.state.subscriptions.get(id) ?? paid;
}

/** Charges an amount for a billing period, by default for the one that starts now. */
export function chargeSubscription(
  context: ResponseContext,
  subscription: Subscription,
  { at, micros, billingPeriod = getBillingPeriod(subscription) }: SubscriptionCharge,
): Subscription {
  const { id, currency, country, customerId, taxRate, payments } = subscription;
  const amount = formatAmount({ priceMicros: micros });
  const { id: paymentId } = savePayment(context, {
    amount,
    ...buildTaxAmount(amount, taxRate),
    currency,
    ...(country !== undefined && { country }),
    customerId,
    subscriptionId: id,
    billingPeriod,
    createdAt: at,
    updatedAt: at,
  });
  return { ...subscription, payments: [...payments, paymentId] };
}

interface SubscriptionCharge {
  readonly at: number;
  readonly micros: number;
  readonly billingPeriod?: [number, number];
}

/** Copies a subscription with another status from `at` on. */
export const withStatus = (subscription: Subscription, status: Subscription['status'], at: number): Subscription => ({
  ...subscription,
  status,
  updatedAt: at,
  history:
    subscription.status === status && subscription.history.length > 0
      ? subscription.history
      : [{ status, timestamp: at, planId: subscription.planId }, ...subscription.history],
});

/** Returns the time of the next automatic payment. */
export const getNextDueTime = (subscription: Subscription): number | undefined =>
  subscription.autoRenew &&
  (subscription.status === 'Pending' || (subscription.status === 'Active' && !subscription.isRetrying))
    ? getNextBillingTime(subscription)
    : undefined;
