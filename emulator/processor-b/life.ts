import { refusal } from '../refusal.ts';
import { bill, changed } from './billing.ts';
import type { Source } from './books.ts';
import type { Payment, Subscription } from './records.ts';
import { giveBack } from './sales.ts';
import { nextBilling } from './views.ts';

/** Ends the renewals of a subscription; what is paid for stays. */
export function cancel(source: Source, subscription: Subscription): void {
  source.books.subscriptions.set(subscription.id, changed(subscription, 'Canceled', source.now()));
  source.tell(subscription.id, 'subscription_canceled');
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
    source.books.subscriptions.set(subscription.id, changed(subscription, 'Past Due', source.now()));
    source.tell(subscription.id, 'subscription_charged_unsuccessfully');
    source.tell(subscription.id, 'subscription_went_past_due');
  },
  recover: (source, subscription) => {
    if (subscription.status !== 'Past Due') throw refusal(422, 'Only what is past due is charged again.');
    bill(source, subscription);
  },
  expire: (source, subscription) => {
    if (subscription.status === 'Expired') throw refusal(422, 'The subscription is Expired already.');
    source.books.subscriptions.set(subscription.id, changed(subscription, 'Expired', source.now()));
    source.tell(subscription.id, 'subscription_expired');
  },
  refund: (source, { payments }) => {
    const newest = source.books.payments.get(payments.at(-1) ?? '');
    refundPayment(source, newest);
  },
};

/** Gives a payment back once; the gateway has no webhook for it. */
export function refundPayment(source: Source, payment: Payment | undefined): void {
  if (!payment || payment.status === 'voided' || payment.refundIds.length > 0) {
    throw refusal(422, 'There is no payment to give back.');
  }
  giveBack(source, payment);
}
