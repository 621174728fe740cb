import type Stripe from 'stripe';
import * as v from 'valibot';
import { addPeriod, Period, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { type AccountState, requirePossible, saveSubscription } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { buildPeriodLines } from './billing-periods.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { withItems, withPeriod } from './subscription-objects.ts';
import { isRunning, type SubscriptionTransition } from './subscription-status.ts';

/** Moves the end of a trial: `end` is `now`, a time, or a period from now. */
export const moveTrial: SubscriptionTransition = (state, subscription, at, { end }) => {
  if (end === undefined) throw controlError(400, 'end is missing.');
  const { id, status } = subscription;
  if (end === 'now') {
    requirePossible(status === 'trialing', id, `is ${status}`);
    return saveSubscription(state, endTrial(state, subscription, at), at);
  }
  requirePossible(isRunning(subscription), id, `is ${status}`);
  const trialEnd = v.is(Period, end) ? addPeriod(at, end) : Date.parse(end);
  if (!(trialEnd > at)) throw controlError(400, `end: expected now, a later time or a period, not ${end}.`);
  return saveSubscription(state, withTrialEnd(state, subscription, { at, end: toSeconds(trialEnd) }), at);
};

/**
 * Ends a trial: the first paid period starts and is billed immediately. The billing cycle has a new anchor.
 *
 * @see https://docs.stripe.com/billing/subscriptions/trials#end-trials-early
 */
export function endTrial(state: AccountState, subscription: Stripe.Subscription, at: number): Stripe.Subscription {
  const items = subscription.items.data.map((item) =>
    withPeriod(item, { start: at, end: addPeriod(at, getPeriod(item.price)) }),
  );
  state.records.pendingTrialReminders.delete(subscription.id);
  const unbilled: Stripe.Subscription = {
    ...withItems(subscription, items),
    status: 'active',
    trial_end: toSeconds(at),
    billing_cycle_anchor: toSeconds(at),
  };
  const lines = buildPeriodLines(items);
  return billSubscription(state, unbilled, { at, reason: 'subscription_update', lines, outcome: 'paid' });
}

/**
 * Moves the end of the period: the time until then is free, and billing starts at the new anchor. The start of a trial
 * stays.
 *
 * @see https://docs.stripe.com/api/subscriptions/update
 */
export function withTrialEnd(
  { records }: AccountState,
  subscription: Stripe.Subscription,
  { at, end }: { at: number; end: number },
): Stripe.Subscription {
  const { id, status, items, trial_start } = subscription;
  const isTrialing = status === 'trialing';
  if (isTrialing) records.pendingTrialReminders.add(id);
  const moved = items.data.map((item) =>
    withPeriod(item, { start: isTrialing ? item.current_period_start * secondMs : at, end: end * secondMs }),
  );
  return {
    ...withItems(subscription, moved),
    status: 'trialing',
    trial_start: isTrialing ? trial_start : toSeconds(at),
    trial_end: end,
    billing_cycle_anchor: end,
  };
}
