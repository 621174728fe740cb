import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { type AccountState, requirePossible, saveSubscription, saveSubscriptionAs } from './account-state.ts';
import { billSubscription, buildPeriodLine } from './billing.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { getItem, withItem } from './subscription-objects.ts';
import { isRunning, type SubscriptionTransition } from './subscription-transitions.ts';

/** Payments are not collected, until the end of `period` when there is one. */
export const pauseCollection: SubscriptionTransition = (shop, subscription, at, { period }) => {
  requirePossible(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  requirePossible(subscription.pause_collection === null, subscription.id, 'is paused already');
  const resumes_at = period === undefined ? null : toSeconds(addPeriod(at, period));
  return saveSubscription(shop, { ...subscription, pause_collection: { behavior: 'void', resumes_at } }, at);
};

/** Payments are collected again, or the subscription that stood still goes on. */
export const resumeCollection: SubscriptionTransition = (shop, subscription, at) => {
  if (subscription.status === 'paused') return applyResume(shop, subscription, at);
  requirePossible(subscription.pause_collection !== null, subscription.id, 'is not paused');
  return saveSubscription(shop, { ...subscription, pause_collection: null }, at);
};

/** The subscription stands still: it has no periods and no invoices. */
export function applyPause(shop: AccountState, subscription: Stripe.Subscription, at: number): string {
  requirePossible(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  const paused: Stripe.Subscription = {
    ...subscription,
    status: 'paused',
    status_details: {
      paused: { subscription: { type: 'pause_requested' }, transitioned_at: toSeconds(at), type: 'subscription' },
    },
  };
  saveSubscription(shop, paused, at);
  return saveSubscriptionAs(shop, 'paused', { subscription: paused, at });
}

/** The subscription that stood still begins a period, which is paid. */
export function applyResume(shop: AccountState, subscription: Stripe.Subscription, at: number): string {
  requirePossible(subscription.status === 'paused', subscription.id, `is ${subscription.status}: it is not paused`);
  const { status_details: _over, ...kept } = subscription;
  const { price, quantity } = getItem(subscription);
  const period = { start: at, end: addPeriod(at, getPeriod(price)) };
  const begun = withItem(
    { ...kept, status: 'active', billing_cycle_anchor: toSeconds(at), trial_end: null },
    { current_period_start: toSeconds(period.start), current_period_end: toSeconds(period.end) },
  );
  const lines = [buildPeriodLine(price, quantity ?? 1, period)];
  const resumed = billSubscription(shop, begun, { at, reason: 'subscription_update', lines, paid: true });
  saveSubscription(shop, resumed, at);
  return saveSubscriptionAs(shop, 'resumed', { subscription: resumed, at });
}
