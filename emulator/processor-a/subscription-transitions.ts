import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { type AccountState, requirePossible, saveSubscription, saveSubscriptionAs } from './account-state.ts';
import { failOpenInvoice, payOpenInvoice, startNextPeriod } from './billing.ts';
import { toSeconds } from './catalogue.ts';
import { getItem } from './subscription-objects.ts';

/** Something that happens to a subscription; gives the id of the purchase. */
export type SubscriptionTransition = (
  shop: AccountState,
  subscription: Stripe.Subscription,
  at: number,
  details: ActionBody,
) => string;

/** Whether its periods are paid for, or free. */
export const isRunning = ({ status }: Stripe.Subscription): boolean => status === 'active' || status === 'trialing';
const isEnded = ({ status }: Stripe.Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';

/** The next period begins and is paid. */
export const renew: SubscriptionTransition = (shop, subscription, at) => {
  const { id, status, cancel_at_period_end } = subscription;
  requirePossible(isRunning(subscription), id, `is ${status}: it does not renew`);
  requirePossible(!cancel_at_period_end, id, 'was cancelled: it does not renew');
  return saveSubscription(shop, { ...startNextPeriod(shop, subscription, { at, paid: true }), status: 'active' }, at);
};

/** The customer will let it end with the period. */
export const cancelAtPeriodEnd: SubscriptionTransition = (shop, subscription, at) => {
  requirePossible(!isEnded(subscription), subscription.id, `is ${subscription.status}`);
  requirePossible(!subscription.cancel_at_period_end, subscription.id, 'is cancelled already');
  return saveSubscription(
    shop,
    {
      ...subscription,
      cancel_at_period_end: true,
      cancel_at: getItem(subscription).current_period_end,
      canceled_at: toSeconds(at),
      cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
    },
    at,
  );
};

/** The customer takes the cancellation back. */
export const resumeRenewal: SubscriptionTransition = (shop, subscription, at) => {
  requirePossible(!isEnded(subscription) && subscription.cancel_at_period_end, subscription.id, 'is not about to end');
  const cancellation_details = { comment: null, feedback: null, feedback_option: null, reason: null };
  return saveSubscription(
    shop,
    { ...subscription, cancel_at_period_end: false, cancel_at: null, canceled_at: null, cancellation_details },
    at,
  );
};

/** The subscription ends now: because payments failed, or because somebody wanted it. */
export const endSubscription: SubscriptionTransition = (shop, subscription, at) => {
  const { id, status } = subscription;
  requirePossible(!isEnded(subscription), id, `is ${status} already`);
  const reason = status === 'past_due' || status === 'unpaid' ? 'payment_failed' : 'cancellation_requested';
  shop.books.renewing.delete(id);
  const ended: Stripe.Subscription = {
    ...subscription,
    status: 'canceled',
    ended_at: toSeconds(at),
    canceled_at: subscription.canceled_at ?? toSeconds(at),
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason },
  };
  return saveSubscriptionAs(shop, 'deleted', { subscription: ended, at });
};

/** The next period cannot be paid: past due, and unpaid when it fails again or at once when there is no grace. */
export const failPayment: SubscriptionTransition = (shop, subscription, at, { grace = true }) => {
  const { id, status } = subscription;
  if (status === 'past_due') {
    failOpenInvoice(shop, subscription, at);
    return saveSubscription(shop, { ...subscription, status: 'unpaid' }, at);
  }
  requirePossible(isRunning(subscription) && !subscription.cancel_at_period_end, id, `is ${status}: no payment is due`);
  const billed = startNextPeriod(shop, subscription, { at, paid: false });
  return saveSubscription(shop, { ...billed, status: grace ? 'past_due' : 'unpaid' }, at);
};

/** The payment that failed succeeds. */
export const recover: SubscriptionTransition = (shop, subscription, at) => {
  const { id, status } = subscription;
  requirePossible(status === 'past_due' || status === 'unpaid', id, `is ${status}: nothing is to be recovered`);
  payOpenInvoice(shop, subscription, at);
  return saveSubscription(shop, { ...subscription, status: 'active' }, at);
};
