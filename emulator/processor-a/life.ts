import type Stripe from 'stripe';
import type { ActionDetails } from '../orders.ts';
import { failAgain, nextPeriod, payOpen } from './billing.ts';
import { seconds } from './catalogue.ts';
import { demand, type Shop, settle, settleAs } from './shop.ts';
import { itemOf } from './subscription-objects.ts';

/** Something that happens to a subscription; gives the id of the purchase. */
export type Step = (shop: Shop, subscription: Stripe.Subscription, at: number, details: ActionDetails) => string;

/** Whether its periods are paid for, or free. */
export const isRunning = ({ status }: Stripe.Subscription): boolean => status === 'active' || status === 'trialing';
const isEnded = ({ status }: Stripe.Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';

/** The next period begins and is paid. */
export const renew: Step = (shop, subscription, at) => {
  const { id, status, cancel_at_period_end } = subscription;
  demand(isRunning(subscription), id, `is ${status}: it does not renew`);
  demand(!cancel_at_period_end, id, 'was cancelled: it does not renew');
  return settle(shop, { ...nextPeriod(shop, subscription, { at, paid: true }), status: 'active' }, at);
};

/** The customer will let it end with the period. */
export const cancel: Step = (shop, subscription, at) => {
  demand(!isEnded(subscription), subscription.id, `is ${subscription.status}`);
  demand(!subscription.cancel_at_period_end, subscription.id, 'is cancelled already');
  return settle(
    shop,
    {
      ...subscription,
      cancel_at_period_end: true,
      cancel_at: itemOf(subscription).current_period_end,
      canceled_at: seconds(at),
      cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
    },
    at,
  );
};

/** The customer takes the cancellation back. */
export const uncancel: Step = (shop, subscription, at) => {
  demand(!isEnded(subscription) && subscription.cancel_at_period_end, subscription.id, 'is not about to end');
  const cancellation_details = { comment: null, feedback: null, feedback_option: null, reason: null };
  return settle(
    shop,
    { ...subscription, cancel_at_period_end: false, cancel_at: null, canceled_at: null, cancellation_details },
    at,
  );
};

/** The subscription ends now: because payments failed, or because somebody wanted it. */
export const end: Step = (shop, subscription, at) => {
  const { id, status } = subscription;
  demand(!isEnded(subscription), id, `is ${status} already`);
  const reason = status === 'past_due' || status === 'unpaid' ? 'payment_failed' : 'cancellation_requested';
  shop.books.renewing.delete(id);
  const ended: Stripe.Subscription = {
    ...subscription,
    status: 'canceled',
    ended_at: seconds(at),
    canceled_at: subscription.canceled_at ?? seconds(at),
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason },
  };
  return settleAs(shop, 'deleted', { subscription: ended, at });
};

/** The next period cannot be paid: past due, and unpaid when it fails again or at once when there is no grace. */
export const failPayment: Step = (shop, subscription, at, { grace = true }) => {
  const { id, status } = subscription;
  if (status === 'past_due') {
    failAgain(shop, subscription, at);
    return settle(shop, { ...subscription, status: 'unpaid' }, at);
  }
  demand(isRunning(subscription) && !subscription.cancel_at_period_end, id, `is ${status}: no payment is due`);
  const billed = nextPeriod(shop, subscription, { at, paid: false });
  return settle(shop, { ...billed, status: grace ? 'past_due' : 'unpaid' }, at);
};

/** The payment that failed succeeds. */
export const recover: Step = (shop, subscription, at) => {
  const { id, status } = subscription;
  demand(status === 'past_due' || status === 'unpaid', id, `is ${status}: nothing is to be recovered`);
  payOpen(shop, subscription, at);
  return settle(shop, { ...subscription, status: 'active' }, at);
};
