import type Stripe from 'stripe';
import { requirePossible, saveSubscriptionAs } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import { isEnded, type SubscriptionTransition } from './subscription-status.ts';

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
