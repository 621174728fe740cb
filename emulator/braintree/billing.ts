import { emitSubscriptionWebhook } from './emit-webhooks.ts';
import { generateId, type ResponseContext } from './merchant-state.ts';
import type { Payment, Subscription } from './records.ts';
import { getBillingPeriod, getNextBillingTime } from './views.ts';

const approvedResponse = { code: '1000', text: 'Approved' };

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

/** Bills a subscription successfully and starts its next period. */
export function billSubscription(
  context: ResponseContext,
  subscription: Subscription,
  at = context.now(),
): Subscription {
  const { id, price: amount, currency, country, customerId, cycles, isTrial, status } = subscription;
  const { id: paymentId } = savePayment(context, {
    amount,
    currency,
    ...(country !== undefined && { country }),
    customerId,
    subscriptionId: id,
    billingPeriod: getBillingPeriod(subscription),
    createdAt: at,
    updatedAt: at,
  });
  const paid = withStatus(subscription, 'Active', at);
  context.state.subscriptions.set(id, { ...paid, cycles: cycles + 1, payments: [...paid.payments, paymentId] });
  // A subscription with a trial is active from its start, so Braintree does not send subscription_went_active for it.
  // https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
  if (cycles === 0 && isTrial) emitSubscriptionWebhook(context, 'subscription_trial_ended', { id, at });
  if (status === 'Past Due' || (cycles === 0 && !isTrial))
    emitSubscriptionWebhook(context, 'subscription_went_active', { id, at });
  emitSubscriptionWebhook(context, 'subscription_charged_successfully', { id, at });
  return context.state.subscriptions.get(id) ?? paid;
}

/** Copies a subscription with another status from `at` on. */
export const withStatus = (subscription: Subscription, status: Subscription['status'], at: number): Subscription => ({
  ...subscription,
  status,
  updatedAt: at,
  history:
    subscription.status === status && subscription.history.length > 0
      ? subscription.history
      : [{ status, timestamp: at }, ...subscription.history],
});

/** Returns the time of the next automatic payment. */
export const getNextDueTime = (subscription: Subscription): number | undefined =>
  subscription.autoRenew && (subscription.status === 'Active' || subscription.status === 'Pending')
    ? getNextBillingTime(subscription)
    : undefined;
