import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import { withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isExpired, type Purchase } from '../../purchases/purchase.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { tryFetchOwnPurchase } from '../try-fetch-own-purchase.ts';
import { fetchObservations } from './fetch-observations.ts';
import type { StripePlatform } from './mapping-context.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe } from './stripe-client.ts';

/** Payload of a queued notification, as `receive` creates it. */
const NotificationPayload = v.object({
  reason: NotificationReason,
  subjectId: v.exactOptional(v.string()),
  /** Time at which the event reverted a cancelation, in epoch milliseconds. */
  renewsSince: v.exactOptional(v.number()),
  pricesChanged: v.exactOptional(v.literal(true)),
});

/**
 * Fetches the current state of the object of an event. Stripe does not guarantee the order of events, so their
 * snapshots can be stale.
 *
 * @see https://docs.stripe.com/webhooks
 */
export async function observe(
  notification: StoreNotification,
  context: StoreContext,
  platform: StripePlatform,
): Promise<ObservedNotification> {
  const { reason, subjectId, renewsSince, pricesChanged } = parse(
    NotificationPayload,
    notification.payload,
    'InternalError',
  );
  const observations =
    subjectId === undefined
      ? undefined
      : await tryFetchOwnPurchase(
          async () =>
            await callStripe(async () => await fetchObservations(subjectId, openStripeAccount(platform, context))),
        );
  const deleted = observations
    ? []
    : await observeDeletion(notification, withPlatform(platform, subjectId ?? ''), context);
  return {
    reason,
    observations: (observations ?? deleted).map((observation) => withIntentDate(observation, renewsSince)),
    ...(pricesChanged && { pricesChanged }),
  };
}

/**
 * Observes the end of a stored subscription that Stripe does not have any longer. It deletes test data and the objects
 * of a test clock.
 *
 * @see https://docs.stripe.com/billing/testing/test-clocks
 */
async function observeDeletion(
  { type, occurredAt }: StoreNotification,
  purchaseId: string,
  { findPurchase, now }: StoreContext,
): Promise<Observation[]> {
  const asOf = now();
  const purchase = type === 'customer.subscription.deleted' ? await findPurchase?.(purchaseId) : undefined;
  if (!purchase || isExpired(purchase, asOf)) return [];
  const endedAt = Math.min(occurredAt, asOf);
  const ended: Purchase = { ...purchase, endedAt, renewalIntent: 'Lapse', cancelationReason: 'System.Deleted' };
  return [{ asOf, purchase: ended, transactions: [], userAliases: [] }];
}

/** Adds the date of a reverted cancelation, unless the subscription was canceled again. */
const withIntentDate = (observation: Observation, renewsSince: EpochMillis | undefined): Observation =>
  renewsSince === undefined || observation.purchase.renewalIntent !== 'Renew'
    ? observation
    : { ...observation, purchase: { ...observation.purchase, renewalIntentChangeDate: renewsSince } };
