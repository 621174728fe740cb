import type Stripe from 'stripe';
import { playDue } from '../play-due.ts';
import { seconds } from './catalogue.ts';
import { abandonCheckout } from './checkout.ts';
import { end, isRunning, renew } from './life.ts';
import { resume } from './pausing.ts';
import { type Shop, tellOf } from './shop.ts';
import { itemOf } from './subscription-objects.ts';

/** Customers are told three days before their trial ends. */
const reminderSeconds = 3 * 86_400;

/** Plays what happens by itself up to that moment: to subscriptions, and to sessions that nobody paid for. */
export function playUntil(shop: Shop, until: number): boolean {
  const { objects } = shop.books;
  const lived = playDue(
    {
      items: () => objects.subscriptions.values(),
      dueAt: (subscription) => dueAt(shop, subscription),
      play: (due, at) => play(shop, due, at),
    },
    until,
  );
  const expired = playDue(
    {
      items: () => objects['checkout/sessions'].values(),
      dueAt: ({ status, expires_at }) => (status === 'open' ? expires_at * 1000 : undefined),
      play: (session, at) => abandonCheckout(shop, session, at),
    },
    until,
  );
  return lived || expired;
}

/** When something happens to a subscription by itself: a reminder, an end, a pause that is over, a renewal. */
function dueAt({ books }: Shop, subscription: Stripe.Subscription): number | undefined {
  if (!isRunning(subscription)) return undefined;
  const { cancel_at, pause_collection, id } = subscription;
  const plays = books.renewing.has(id) && pause_collection === null ? itemOf(subscription).current_period_end : null;
  const all = [reminderAt(books, subscription), cancel_at, pause_collection?.resumes_at ?? null, plays];
  const moments = all.filter((moment) => moment !== null);
  return moments.length === 0 ? undefined : Math.min(...moments) * 1000;
}

function reminderAt({ toRemind }: Shop['books'], subscription: Stripe.Subscription): number | null {
  const { id, status, created, trial_end } = subscription;
  return status !== 'trialing' || trial_end === null || !toRemind.has(id)
    ? null
    : Math.max(created, trial_end - reminderSeconds);
}

function play(shop: Shop, subscription: Stripe.Subscription, at: number): void {
  const { id, cancel_at, pause_collection } = subscription;
  if (reminderAt(shop.books, subscription) === seconds(at)) {
    shop.books.toRemind.delete(id);
    tellOf(shop, 'customer.subscription.trial_will_end', { purchaseId: id, at, object: subscription });
    return;
  }
  const step = cancel_at === seconds(at) ? end : pause_collection?.resumes_at === seconds(at) ? resume : renew;
  step(shop, subscription, at, {});
}
