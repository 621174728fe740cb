import { controlError } from '../control-error.ts';
import { billSubscription, savePayment, withStatus } from './billing.ts';
import { generateId, type ResponseContext } from './merchant-state.ts';
import { emitCheckWebhook, emitDisputeWebhook, emitSubscriptionWebhook } from './emit-webhooks.ts';
import type { Payment, Subscription } from './records.ts';
import { reversePayment } from './transactions.ts';
import { getNextBillingTime } from './views.ts';

/** Ends the renewals of a subscription; what is paid for stays. */
export function cancelSubscription(source: ResponseContext, subscription: Subscription): void {
  source.books.subscriptions.set(subscription.id, withStatus(subscription, 'Canceled', source.now()));
  emitSubscriptionWebhook(source, 'subscription_canceled', { id: subscription.id, at: source.now() });
}

/** What can happen to a subscription. */
export const subscriptionActions: Readonly<
  Record<string, (source: ResponseContext, subscription: Subscription) => void>
> = {
  renew: (source, subscription) => {
    if (subscription.status !== 'Active')
      throw controlError(422, `A subscription that is ${subscription.status} is not renewed.`);
    billSubscription(source, subscription, Math.max(source.now(), getNextBillingTime(subscription)));
  },
  cancel: (source, subscription) => {
    if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
      throw controlError(422, `The subscription is ${subscription.status} already.`);
    }
    cancelSubscription(source, subscription);
  },
  'fail-payment': (source, subscription) => {
    if (subscription.status !== 'Active') throw controlError(422, `The subscription is ${subscription.status}.`);
    failPayment(source, subscription);
  },
  recover: (source, subscription) => {
    if (subscription.status !== 'Past Due') throw controlError(422, 'Only what is past due is charged again.');
    billSubscription(source, subscription);
  },
  expire: (source, subscription) => {
    if (subscription.status === 'Expired') throw controlError(422, 'The subscription is Expired already.');
    source.books.subscriptions.set(subscription.id, withStatus(subscription, 'Expired', source.now()));
    emitSubscriptionWebhook(source, 'subscription_expired', { id: subscription.id, at: source.now() });
  },
  refund: (source, subscription) => refundPayment(source, latestPaid(source, subscription)),
  revoke: (source, subscription) => disputePayment(source, latestPaid(source, subscription)),
  'test-notification': (source, { id }) => emitCheckWebhook(source, id),
};

/** What can happen to a payment that is not a subscription's. */
export const paymentActions: Readonly<Record<string, (source: ResponseContext, payment: Payment) => void>> = {
  refund: refundPayment,
  revoke: disputePayment,
  'test-notification': (source, { id }) => emitCheckWebhook(source, id),
};

function failPayment(source: ResponseContext, subscription: Subscription): void {
  const { id, price: amount, currency, customerId, payments } = subscription;
  const at = source.now();
  const response = { code: '2001', text: 'Insufficient Funds' };
  const asked = { amount, currency, customerId, subscriptionId: id, status: 'processor_declined', response };
  const { id: failedId } = savePayment(source, asked);
  const pastDue = { ...withStatus(subscription, 'Past Due', at), payments: [...payments, failedId] };
  source.books.subscriptions.set(id, pastDue);
  emitSubscriptionWebhook(source, 'subscription_charged_unsuccessfully', { id, at });
  emitSubscriptionWebhook(source, 'subscription_went_past_due', { id, at });
}

const latestPaid = ({ books }: ResponseContext, { payments }: Subscription): Payment | undefined =>
  payments.flatMap((id) => books.payments.get(id) ?? []).findLast(({ status }) => status !== 'processor_declined');

/** Gives a payment back once; the gateway has no webhook for it. */
function refundPayment(source: ResponseContext, payment: Payment | undefined): void {
  reversePayment(source, requirePaid(payment));
}

/** The customer's bank takes the payment back, after a dispute that the merchant lost. */
function disputePayment(source: ResponseContext, payment: Payment | undefined): void {
  const paid = requirePaid(payment);
  const disputed = { ...paid, dispute: { id: generateId(16), openedAt: source.now() } };
  source.books.payments.set(paid.id, disputed);
  emitDisputeWebhook(source, disputed, 'open');
  emitDisputeWebhook(source, disputed, 'lost');
}

function requirePaid(payment: Payment | undefined): Payment {
  if (!payment || payment.status === 'voided' || payment.refundIds.length > 0 || payment.dispute) {
    throw controlError(422, 'There is no payment to give back.');
  }
  return payment;
}
