import { controlError } from '../control-error.ts';
import { billSubscription, savePayment, withStatus } from './billing.ts';
import { emitCheckWebhook, emitDisputeWebhook, emitSubscriptionWebhook } from './emit-webhooks.ts';
import { generateId, type ResponseContext } from './merchant-state.ts';
import type { Payment, Subscription } from './records.ts';
import { reversePayment } from './transactions.ts';
import { getNextBillingTime } from './views.ts';

/** Ends the renewals of a subscription; what is paid for stays. */
export function cancelSubscription(context: ResponseContext, subscription: Subscription): void {
  context.books.subscriptions.set(subscription.id, withStatus(subscription, 'Canceled', context.now()));
  emitSubscriptionWebhook(context, 'subscription_canceled', { id: subscription.id, at: context.now() });
}

/** What can happen to a subscription. */
export const subscriptionActions: Readonly<
  Record<string, (context: ResponseContext, subscription: Subscription) => void>
> = {
  renew: (context, subscription) => {
    if (subscription.status !== 'Active')
      throw controlError(422, `A subscription that is ${subscription.status} is not renewed.`);
    billSubscription(context, subscription, Math.max(context.now(), getNextBillingTime(subscription)));
  },
  cancel: (context, subscription) => {
    if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
      throw controlError(422, `The subscription is ${subscription.status} already.`);
    }
    cancelSubscription(context, subscription);
  },
  'fail-payment': (context, subscription) => {
    if (subscription.status !== 'Active') throw controlError(422, `The subscription is ${subscription.status}.`);
    failPayment(context, subscription);
  },
  recover: (context, subscription) => {
    if (subscription.status !== 'Past Due') throw controlError(422, 'Only what is past due is charged again.');
    billSubscription(context, subscription);
  },
  expire: (context, subscription) => {
    if (subscription.status === 'Expired') throw controlError(422, 'The subscription is Expired already.');
    context.books.subscriptions.set(subscription.id, withStatus(subscription, 'Expired', context.now()));
    emitSubscriptionWebhook(context, 'subscription_expired', { id: subscription.id, at: context.now() });
  },
  refund: (context, subscription) => refundPayment(context, latestPaid(context, subscription)),
  revoke: (context, subscription) => disputePayment(context, latestPaid(context, subscription)),
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

/** What can happen to a payment that is not a subscription's. */
export const paymentActions: Readonly<Record<string, (context: ResponseContext, payment: Payment) => void>> = {
  refund: refundPayment,
  revoke: disputePayment,
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

function failPayment(context: ResponseContext, subscription: Subscription): void {
  const { id, price: amount, currency, customerId, payments } = subscription;
  const at = context.now();
  const response = { code: '2001', text: 'Insufficient Funds' };
  const asked = { amount, currency, customerId, subscriptionId: id, status: 'processor_declined', response };
  const { id: failedId } = savePayment(context, asked);
  const pastDue = { ...withStatus(subscription, 'Past Due', at), payments: [...payments, failedId] };
  context.books.subscriptions.set(id, pastDue);
  emitSubscriptionWebhook(context, 'subscription_charged_unsuccessfully', { id, at });
  emitSubscriptionWebhook(context, 'subscription_went_past_due', { id, at });
}

const latestPaid = ({ books }: ResponseContext, { payments }: Subscription): Payment | undefined =>
  payments.flatMap((id) => books.payments.get(id) ?? []).findLast(({ status }) => status !== 'processor_declined');

/** Gives a payment back once; the gateway has no webhook for it. */
function refundPayment(context: ResponseContext, payment: Payment | undefined): void {
  reversePayment(context, requirePaid(payment));
}

/** The customer's bank takes the payment back, after a dispute that the merchant lost. */
function disputePayment(context: ResponseContext, payment: Payment | undefined): void {
  const paid = requirePaid(payment);
  const disputed = { ...paid, dispute: { id: generateId(16), openedAt: context.now() } };
  context.books.payments.set(paid.id, disputed);
  emitDisputeWebhook(context, disputed, 'open');
  emitDisputeWebhook(context, disputed, 'lost');
}

function requirePaid(payment: Payment | undefined): Payment {
  if (!payment || payment.status === 'voided' || payment.refundIds.length > 0 || payment.dispute) {
    throw controlError(422, 'There is no payment to give back.');
  }
  return payment;
}
