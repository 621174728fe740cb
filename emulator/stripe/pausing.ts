import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { requirePossible, saveSubscription, saveSubscriptionAs } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { buildPeriodLines } from './billing-periods.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { withItems, withPeriod } from './subscription-objects.ts';
import { isRunning, type SubscriptionTransition } from './subscription-status.ts';

/**
 * Pauses payment collection, until the end of `period` if it is set. The subscription stays active, and the invoices of
 * its next periods are void.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
export const pauseCollection: SubscriptionTransition = (state, subscription, at, { period }) => {
  requirePossible(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  requirePossible(subscription.pause_collection === null, subscription.id, 'has paused its collection already');
  const resumes_at = period === undefined ? null : toSeconds(addPeriod(at, period));
  return saveSubscription(state, { ...subscription, pause_collection: { behavior: 'void', resumes_at } }, at);
};

/** Resumes payment collection. The next period is billed. */
export const resumeCollection: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(subscription.pause_collection !== null, subscription.id, 'has not paused its collection');
  return saveSubscription(state, { ...subscription, pause_collection: null }, at);
};

/**
 * Pauses a subscription: it does not have periods or invoices until it is resumed.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause
 */
export const pause: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  const paused: Stripe.Subscription = {
    ...subscription,
    status: 'paused',
    status_details: {
      paused: { subscription: { type: 'pause_requested' }, transitioned_at: toSeconds(at), type: 'subscription' },
    },
  };
  saveSubscription(state, paused, at);
  return saveSubscriptionAs(state, 'paused', { subscription: paused, at });
};

/** Resumes a paused subscription with a paid period. */
export const resume: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(subscription.status === 'paused', subscription.id, `is ${subscription.status}: it is not paused`);
  const { status_details: _removed, ...unpaused } = subscription;
  const items = subscription.items.data.map((item) =>
    withPeriod(item, { start: at, end: addPeriod(at, getPeriod(item.price)) }),
  );
  const unbilled = withItems(
    { ...unpaused, status: 'active', billing_cycle_anchor: toSeconds(at), trial_end: null },
    items,
  );
  const lines = buildPeriodLines(items);
  const resumed = billSubscription(state, unbilled, { at, reason: 'subscription_update', lines, outcome: 'paid' });
  saveSubscription(state, resumed, at);
  return saveSubscriptionAs(state, 'resumed', { subscription: resumed, at });
};
