import type Stripe from 'stripe';
import { runDue } from '../run-due.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import { expireCheckout } from './checkout.ts';
import { resumeCollection } from './pausing.ts';
import { getItem } from './subscription-objects.ts';
import { endSubscription, isRunning, renew } from './subscription-transitions.ts';

/** Customers are told three days before their trial ends. */
const reminderSeconds = 3 * 86_400;

/** Plays what happens by itself up to that moment: to subscriptions, and to sessions that nobody paid for. */
export function advanceTo(shop: AccountState, until: number): boolean {
  const { objects } = shop.books;
  const lived = runDue(
    {
      items: () => objects.subscriptions.values(),
      dueAt: (subscription) => getNextDueTime(shop, subscription),
      run: (due, at) => runDueTransition(shop, due, at),
    },
    until,
  );
  const expired = runDue(
    {
      items: () => objects['checkout/sessions'].values(),
      dueAt: ({ status, expires_at }) => (status === 'open' ? expires_at * 1000 : undefined),
      run: (session, at) => expireCheckout(shop, session, at),
    },
    until,
  );
  return lived || expired;
}

/** When something happens to a subscription by itself: a reminder, an end, a pause that is over, a renewal. */
function getNextDueTime({ books }: AccountState, subscription: Stripe.Subscription): number | undefined {
  if (!isRunning(subscription)) return undefined;
  const { cancel_at, pause_collection, id } = subscription;
  const plays = books.renewing.has(id) && pause_collection === null ? getItem(subscription).current_period_end : null;
  const all = [reminderAt(books, subscription), cancel_at, pause_collection?.resumes_at ?? null, plays];
  const moments = all.filter((moment) => moment !== null);
  return moments.length === 0 ? undefined : Math.min(...moments) * 1000;
}

function reminderAt(
  { pendingTrialReminders }: AccountState['books'],
  subscription: Stripe.Subscription,
): number | null {
  const { id, status, created, trial_end } = subscription;
  return status !== 'trialing' || trial_end === null || !pendingTrialReminders.has(id)
    ? null
    : Math.max(created, trial_end - reminderSeconds);
}

function runDueTransition(shop: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { id, cancel_at, pause_collection } = subscription;
  if (reminderAt(shop.books, subscription) === toSeconds(at)) {
    shop.books.pendingTrialReminders.delete(id);
    emitEvent(shop, 'customer.subscription.trial_will_end', { purchaseId: id, at, object: subscription });
    return;
  }
  const step =
    cancel_at === toSeconds(at)
      ? endSubscription
      : pause_collection?.resumes_at === toSeconds(at)
        ? resumeCollection
        : renew;
  step(shop, subscription, at, {});
}
