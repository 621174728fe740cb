import type Stripe from 'stripe';
import { dayMs, secondMs } from '../calendar.ts';
import { createSchedule, findEarliestTime, type Schedule } from '../run-due.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import { expireCheckout } from './checkout.ts';
import { endSubscription } from './end-subscription.ts';
import { listOverdueSteps } from './failed-payments.ts';
import { resumeCollection } from './pausing.ts';
import { findScheduledEnd } from './schedules.ts';
import { getEarliestEnd } from './subscription-objects.ts';
import { isRunning } from './subscription-status.ts';
import { renew } from './subscription-transitions.ts';

/** Stripe sends `customer.subscription.trial_will_end` three days before the end of a trial. */
const reminderSeconds = (3 * dayMs) / secondMs;

/** Creates the schedule of subscriptions and open sessions. */
export function createAccountSchedule(state: AccountState): Schedule {
  const { objects } = state.records;
  const subscriptions = createSchedule<Stripe.Subscription>({
    items: () => objects.subscriptions.values(),
    dueAt: (subscription) => getNextDueTime(state, subscription),
    run: (due, at) => runDueTransition(state, due, at),
  });
  const sessions = createSchedule<Stripe.Checkout.Session>({
    items: () => objects['checkout/sessions'].values(),
    dueAt: ({ status, expires_at }) => (status === 'open' ? expires_at * secondMs : undefined),
    run: (session, at) => expireCheckout(state, session, at),
  });
  return { advanceTo: (time) => findEarliestTime([subscriptions.advanceTo(time), sessions.advanceTo(time)]) };
}

/** Returns the time of the next scheduled change, in epoch milliseconds. */
function getNextDueTime(state: AccountState, subscription: Stripe.Subscription): number | undefined {
  const overdueTimes = listOverdueSteps(state, subscription).map(({ at }) => at);
  return findEarliestTime([getRunningDueTime(state, subscription), ...overdueTimes]);
}

/** Returns the next trial reminder, cancelation, end of a pause or renewal, if no payment is overdue. */
function getRunningDueTime({ records }: AccountState, subscription: Stripe.Subscription): number | undefined {
  if (!isRunning(subscription)) return undefined;
  const { cancel_at, pause_collection, id } = subscription;
  const renewalTime = records.autoRenewing.has(id) ? getEarliestEnd(subscription) : null;
  const end = cancel_at ?? findScheduledEnd(records, subscription);
  const times = [getReminderTime(records, subscription), end, pause_collection?.resumes_at ?? null, renewalTime];
  const dueTimes = times.filter((time) => time !== null);
  return dueTimes.length === 0 ? undefined : Math.min(...dueTimes) * secondMs;
}

function getReminderTime(
  { pendingTrialReminders }: AccountState['records'],
  subscription: Stripe.Subscription,
): number | null {
  const { id, status, created, trial_end } = subscription;
  return status !== 'trialing' || trial_end === null || !pendingTrialReminders.has(id)
    ? null
    : Math.max(created, trial_end - reminderSeconds);
}

function runDueTransition(state: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { id, cancel_at, pause_collection } = subscription;
  const overdueStep = listOverdueSteps(state, subscription).find((step) => step.at === at);
  if (overdueStep !== undefined) {
    overdueStep.run(state, subscription, at);
    return;
  }
  if (getReminderTime(state.records, subscription) === toSeconds(at)) {
    state.records.pendingTrialReminders.delete(id);
    emitEvent(state, 'customer.subscription.trial_will_end', { purchaseId: id, at, object: subscription });
    return;
  }
  const transition =
    (cancel_at ?? findScheduledEnd(state.records, subscription)) === toSeconds(at)
      ? endSubscription
      : pause_collection?.resumes_at === toSeconds(at)
        ? resumeCollection
        : renew;
  transition(state, subscription, at, {});
}
