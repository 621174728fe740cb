import { type Source, token } from './books.ts';
import { tellOf } from './news.ts';
import type { Payment, Subscription } from './records.ts';
import { nextBilling } from './views.ts';

const approved = { code: '1000', text: 'Approved' };

/** Enters a payment in the books. */
export function enterPayment(
  { books, now }: Source,
  details: Pick<Payment, 'amount' | 'currency'> & Partial<Payment>,
): Payment {
  const at = now();
  const payment: Payment = {
    id: token(8),
    type: 'sale',
    status: 'submitted_for_settlement',
    createdAt: at,
    updatedAt: at,
    refundIds: [],
    response: approved,
    ...details,
  };
  books.payments.set(payment.id, payment);
  return payment;
}

/** Takes the payment that is due and begins its period. */
export function bill(source: Source, subscription: Subscription, at = source.now()): Subscription {
  const { id, price: amount, currency, customerId, cycles, isTrial, status } = subscription;
  const { id: paymentId } = enterPayment(source, {
    amount,
    currency,
    customerId,
    subscriptionId: id,
    createdAt: at,
    updatedAt: at,
  });
  const paid = changed(subscription, 'Active', at);
  source.books.subscriptions.set(id, { ...paid, cycles: cycles + 1, payments: [...paid.payments, paymentId] });
  // What began with a trial is active from the start: the gateway never says that it went active.
  if (cycles === 0 && isTrial) tellOf(source, 'subscription_trial_ended', { id, at });
  if (status === 'Past Due' || (cycles === 0 && !isTrial)) tellOf(source, 'subscription_went_active', { id, at });
  tellOf(source, 'subscription_charged_successfully', { id, at });
  return source.books.subscriptions.get(id) ?? paid;
}

/** The subscription in another state from `at` on. */
export const changed = (subscription: Subscription, status: Subscription['status'], at: number): Subscription => ({
  ...subscription,
  status,
  updatedAt: at,
  history:
    subscription.status === status && subscription.history.length > 0
      ? subscription.history
      : [{ status, timestamp: at }, ...subscription.history],
});

/** When a subscription is billed by itself. */
export const dueAt = (subscription: Subscription): number | undefined =>
  subscription.autoRenew && subscription.status === 'Active' ? nextBilling(subscription) : undefined;
