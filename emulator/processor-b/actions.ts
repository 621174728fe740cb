import { controlError } from '../control-error.ts';
import { billSubscription, savePayment, withStatus } from './billing.ts';
import { emitCheckWebhook, emitDisputeWebhook, emitSubscriptionWebhook } from './emit-webhooks.ts';
import { generateId, type ResponseContext } from './merchant-state.ts';
import type { Payment, Subscription } from './records.ts';
import { reversePayment } from './transactions.ts';
import { getNextBillingTime } from './views.ts';

/** Cancels a subscription. Access remains until the end of the paid period. */
export function cancelSubscription(context: ResponseContext, subscription: Subscription): void {
  context.state.subscriptions.set(subscription.id, withStatus(subscription, 'Canceled', context.now()));
  emitSubscriptionWebhook(context, 'subscription_canceled', { id: subscription.id, at: context.now() });
}

/** Control API actions on a subscription. */
export const subscriptionActions: Readonly<
  Record<string, (context: ResponseContext, subscription: Subscription) => void>
> = {
  renew: (context, subscription) => {
    if (subscription.status !== 'Active')
      throw controlError(422, `The subscription is ${subscription.status} and cannot renew.`);
    billSubscription(context, subscription, Math.max(context.now(), getNextBillingTime(subscription)));
  },
  cancel: (context, subscription) => {
    if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
      throw controlError(422, `The subscription is already ${subscription.status}.`);
    }
    cancelSubscription(context, subscription);
  },
  'fail-payment': (context, subscription) => {
    if (subscription.status !== 'Active') throw controlError(422, `The subscription is ${subscription.status}.`);
    failPayment(context, subscription);
  },
  recover: (context, subscription) => {
    if (subscription.status !== 'Past Due') throw controlError(422, 'The subscription is not Past Due.');
    billSubscription(context, subscription);
  },
  expire: (context, subscription) => {
    if (subscription.status === 'Expired') throw controlError(422, 'The subscription is already Expired.');
    context.state.subscriptions.set(subscription.id, withStatus(subscription, 'Expired', context.now()));
    emitSubscriptionWebhook(context, 'subscription_expired', { id: subscription.id, at: context.now() });
  },
  refund: (context, subscription) => refundPayment(context, findLatestPaid(context, subscription)),
  revoke: (context, subscription) => disputePayment(context, findLatestPaid(context, subscription)),
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

/** Control API actions on a one-time payment. */
export const paymentActions: Readonly<Record<string, (context: ResponseContext, payment: Payment) => void>> = {
  refund: refundPayment,
  revoke: disputePayment,
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

function failPayment(context: ResponseContext, subscription: Subscription): void {
  const { id, price: amount, currency, customerId, payments } = subscription;
  const at = context.now();
  const response = { code: '2001', text: 'Insufficient Funds' };
  const input = { amount, currency, customerId, subscriptionId: id, status: 'processor_declined', response };
  const { id: failedId } = savePayment(context, input);
  const pastDue = { ...withStatus(subscription, 'Past Due', at), payments: [...payments, failedId] };
  context.state.subscriptions.set(id, pastDue);
  emitSubscriptionWebhook(context, 'subscription_charged_unsuccessfully', { id, at });
  emitSubscriptionWebhook(context, 'subscription_went_past_due', { id, at });
}

const findLatestPaid = ({ state }: ResponseContext, { payments }: Subscription): Payment | undefined =>
  payments.flatMap((id) => state.payments.get(id) ?? []).findLast(({ status }) => status !== 'processor_declined');

/** Refunds or voids a payment. Braintree does not send a webhook for it. */
function refundPayment(context: ResponseContext, payment: Payment | undefined): void {
  reversePayment(context, requirePaid(payment));
}

/** Opens a dispute that the merchant loses. */
function disputePayment(context: ResponseContext, payment: Payment | undefined): void {
  const paid = requirePaid(payment);
  const disputed = { ...paid, dispute: { id: generateId(16), openedAt: context.now() } };
  context.state.payments.set(paid.id, disputed);
  emitDisputeWebhook(context, disputed, 'open');
  emitDisputeWebhook(context, disputed, 'lost');
}

function requirePaid(payment: Payment | undefined): Payment {
  if (!payment || payment.status === 'voided' || payment.refundIds.length > 0 || payment.dispute) {
    throw controlError(422, 'A payment that can be reversed is not found.');
  }
  return payment;
}
