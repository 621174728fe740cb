import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { bill, wholePeriod } from './billing.ts';
import { periodOf, seconds } from './catalogue.ts';
import { isRunning, type Step } from './life.ts';
import { demand, type Shop, settle, settleAs } from './shop.ts';
import { itemOf, withItem } from './subscription-objects.ts';

/** Payments are not collected, until the end of `period` when there is one. */
export const pause: Step = (shop, subscription, at, { period }) => {
  demand(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  demand(subscription.pause_collection === null, subscription.id, 'is paused already');
  const resumes_at = period === undefined ? null : seconds(addPeriod(at, period));
  return settle(shop, { ...subscription, pause_collection: { behavior: 'void', resumes_at } }, at);
};

/** Payments are collected again, or the subscription that stood still goes on. */
export const resume: Step = (shop, subscription, at) => {
  if (subscription.status === 'paused') return resumeWhole(shop, subscription, at);
  demand(subscription.pause_collection !== null, subscription.id, 'is not paused');
  return settle(shop, { ...subscription, pause_collection: null }, at);
};

/** The subscription stands still: it has no periods and no invoices. */
export function pauseWhole(shop: Shop, subscription: Stripe.Subscription, at: number): string {
  demand(isRunning(subscription), subscription.id, `is ${subscription.status}`);
  const paused: Stripe.Subscription = {
    ...subscription,
    status: 'paused',
    status_details: {
      paused: { subscription: { type: 'pause_requested' }, transitioned_at: seconds(at), type: 'subscription' },
    },
  };
  settle(shop, paused, at);
  return settleAs(shop, 'paused', { subscription: paused, at });
}

/** The subscription that stood still begins a period, which is paid. */
export function resumeWhole(shop: Shop, subscription: Stripe.Subscription, at: number): string {
  demand(subscription.status === 'paused', subscription.id, `is ${subscription.status}: it is not paused`);
  const { status_details: _over, ...kept } = subscription;
  const { price, quantity } = itemOf(subscription);
  const period = { start: at, end: addPeriod(at, periodOf(price)) };
  const begun = withItem(
    { ...kept, status: 'active', billing_cycle_anchor: seconds(at), trial_end: null },
    { current_period_start: seconds(period.start), current_period_end: seconds(period.end) },
  );
  const lines = [wholePeriod(price, quantity ?? 1, period)];
  const resumed = bill(shop, begun, { at, reason: 'subscription_update', lines, paid: true });
  settle(shop, resumed, at);
  return settleAs(shop, 'resumed', { subscription: resumed, at });
}
