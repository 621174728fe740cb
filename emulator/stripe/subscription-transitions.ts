import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { type AccountState, requirePossible, saveSubscription, saveSubscriptionAs } from './account-state.ts';
import { failOpenInvoice, payLatestInvoice } from './billing.ts';
import { startNextPeriod, startVoidPeriod } from './billing-periods.ts';
import { toSeconds } from './catalogue.ts';
import { getEarliestEnd } from './subscription-objects.ts';

/** A state change of a subscription. Returns the id of the purchase. */
export type SubscriptionTransition = (
  state: AccountState,
  subscription: Stripe.Subscription,
  at: number,
  details: ActionBody,
) => string;

/** Whether the current period is paid or free. */
export const isRunning = ({ status }: Stripe.Subscription): boolean => status === 'active' || status === 'trialing';
const isEnded = ({ status }: Stripe.Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';

/** Starts the next period with a successful payment, or with a void invoice while payment collection is paused. */
export const renew: SubscriptionTransition = (state, subscription, at) => {
  const { id, status, cancel_at_period_end } = subscription;
  requirePossible(isRunning(subscription), id, `is ${status} and cannot renew`);
  requirePossible(!cancel_at_period_end, id, 'is canceled and cannot renew');
  const renewed =
    subscription.pause_collection === null
      ? startNextPeriod(state, subscription, { at, outcome: 'paid' })
      : startVoidPeriod(state, subscription, at);
  return saveSubscription(state, { ...renewed, status: 'active' }, at);
};

/**
 * Cancels a subscription at the end of its period. With different intervals it is the earliest end, for all items.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
 */
export const cancelAtPeriodEnd: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(
    !isEnded(subscription) && subscription.status !== 'incomplete',
    subscription.id,
    `is ${subscription.status}`,
  );
  requirePossible(!subscription.cancel_at_period_end, subscription.id, 'is already canceled');
  return saveSubscription(
    state,
    {
      ...subscription,
      cancel_at_period_end: true,
      cancel_at: getEarliestEnd(subscription),
      canceled_at: toSeconds(at),
      cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
    },
    at,
  );
};

/** Reverts the cancelation at the end of the period. */
export const resumeRenewal: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(!isEnded(subscription) && subscription.cancel_at_period_end, subscription.id, 'is not canceled');
  const cancellation_details = { comment: null, feedback: null, feedback_option: null, reason: null };
  return saveSubscription(
    state,
    { ...subscription, cancel_at_period_end: false, cancel_at: null, canceled_at: null, cancellation_details },
    at,
  );
};

/** Ends a subscription immediately. The reason is `payment_failed` if a payment is overdue. */
export const endSubscription: SubscriptionTransition = (state, subscription, at) => {
  const { id, status } = subscription;
  requirePossible(!isEnded(subscription), id, `is already ${status}`);
  requirePossible(status !== 'incomplete', id, 'is incomplete');
  const reason = status === 'past_due' || status === 'unpaid' ? 'payment_failed' : 'cancellation_requested';
  state.records.autoRenewing.delete(id);
  const ended: Stripe.Subscription = {
    ...subscription,
    status: 'canceled',
    ended_at: toSeconds(at),
    canceled_at: subscription.canceled_at ?? toSeconds(at),
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason },
  };
  return saveSubscriptionAs(state, 'deleted', { subscription: ended, at });
};

/** Fails a payment: the status becomes `past_due`, or `unpaid` without grace and after a second failure. */
export const failPayment: SubscriptionTransition = (state, subscription, at, { grace = true }) => {
  const { id, status } = subscription;
  if (status === 'past_due') {
    failOpenInvoice(state, subscription, at);
    return saveSubscription(state, { ...subscription, status: 'unpaid' }, at);
  }
  requirePossible(
    isRunning(subscription) && !subscription.cancel_at_period_end,
    id,
    `is ${status} and cannot fail a payment`,
  );
  requirePossible(subscription.pause_collection === null, id, 'has paused its collection');
  const billed = startNextPeriod(state, subscription, { at, outcome: 'failed' });
  return saveSubscription(state, { ...billed, status: grace ? 'past_due' : 'unpaid' }, at);
};

/** Pays the overdue invoice. */
export const recover: SubscriptionTransition = (state, subscription, at) => {
  const { id, status } = subscription;
  requirePossible(
    status === 'past_due' || status === 'unpaid',
    id,
    `is ${status} and does not have an overdue payment`,
  );
  payLatestInvoice(state, subscription, at);
  return saveSubscription(state, { ...subscription, status: 'active' }, at);
};
