import { refusal } from '../refusal.ts';
import { bill, changed, enterPayment } from './billing.ts';
import { type Source, token } from './books.ts';
import { tellCheck, tellOf, tellOfDispute } from './news.ts';
import type { Payment, Subscription } from './records.ts';
import { giveBack } from './sales.ts';
import { nextBilling } from './views.ts';

/** Ends the renewals of a subscription; what is paid for stays. */
export function cancel(source: Source, subscription: Subscription): void {
  source.books.subscriptions.set(subscription.id, changed(subscription, 'Canceled', source.now()));
  tellOf(source, 'subscription_canceled', { id: subscription.id, at: source.now() });
}

/** What can happen to a subscription. */
export const subscriptionActions: Readonly<Record<string, (source: Source, subscription: Subscription) => void>> = {
  renew: (source, subscription) => {
    if (subscription.status !== 'Active')
      throw refusal(422, `A subscription that is ${subscription.status} is not renewed.`);
    bill(source, subscription, Math.max(source.now(), nextBilling(subscription)));
  },
  cancel: (source, subscription) => {
    if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
      throw refusal(422, `The subscription is ${subscription.status} already.`);
    }
    cancel(source, subscription);
  },
  'fail-payment': (source, subscription) => {
    if (subscription.status !== 'Active') throw refusal(422, `The subscription is ${subscription.status}.`);
    failPayment(source, subscription);
  },
  recover: (source, subscription) => {
    if (subscription.status !== 'Past Due') throw refusal(422, 'Only what is past due is charged again.');
    bill(source, subscription);
  },
  expire: (source, subscription) => {
    if (subscription.status === 'Expired') throw refusal(422, 'The subscription is Expired already.');
    source.books.subscriptions.set(subscription.id, changed(subscription, 'Expired', source.now()));
    tellOf(source, 'subscription_expired', { id: subscription.id, at: source.now() });
  },
  refund: (source, subscription) => refundPayment(source, latestPaid(source, subscription)),
  revoke: (source, subscription) => disputePayment(source, latestPaid(source, subscription)),
  'test-notification': (source, { id }) => tellCheck(source, id),
};

/** What can happen to a payment that is not a subscription's. */
export const paymentActions: Readonly<Record<string, (source: Source, payment: Payment) => void>> = {
  refund: refundPayment,
  revoke: disputePayment,
  'test-notification': (source, { id }) => tellCheck(source, id),
};

function failPayment(source: Source, subscription: Subscription): void {
  const { id, price: amount, currency, customerId, payments } = subscription;
  const at = source.now();
  const response = { code: '2001', text: 'Insufficient Funds' };
  const asked = { amount, currency, customerId, subscriptionId: id, status: 'processor_declined', response };
  const { id: failedId } = enterPayment(source, asked);
  const pastDue = { ...changed(subscription, 'Past Due', at), payments: [...payments, failedId] };
  source.books.subscriptions.set(id, pastDue);
  tellOf(source, 'subscription_charged_unsuccessfully', { id, at });
  tellOf(source, 'subscription_went_past_due', { id, at });
}

const latestPaid = ({ books }: Source, { payments }: Subscription): Payment | undefined =>
  payments.flatMap((id) => books.payments.get(id) ?? []).findLast(({ status }) => status !== 'processor_declined');

/** Gives a payment back once; the gateway has no webhook for it. */
function refundPayment(source: Source, payment: Payment | undefined): void {
  giveBack(source, stillPaid(payment));
}

/** The customer's bank takes the payment back, after a dispute that the merchant lost. */
function disputePayment(source: Source, payment: Payment | undefined): void {
  const paid = stillPaid(payment);
  const disputed = { ...paid, dispute: { id: token(16), openedAt: source.now() } };
  source.books.payments.set(paid.id, disputed);
  tellOfDispute(source, disputed, 'open');
  tellOfDispute(source, disputed, 'lost');
}

function stillPaid(payment: Payment | undefined): Payment {
  if (!payment || payment.status === 'voided' || payment.refundIds.length > 0 || payment.dispute) {
    throw refusal(422, 'There is no payment to give back.');
  }
  return payment;
}
