import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Observation } from '../../purchases/observation.ts';
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
  { payload }: StoreNotification,
  context: StoreContext,
  platform: StripePlatform,
): Promise<ObservedNotification> {
  const { reason, subjectId, renewsSince, pricesChanged } = parse(NotificationPayload, payload, 'InternalError');
  const observations =
    subjectId === undefined
      ? undefined
      : await tryFetchOwnPurchase(
          async () =>
            await callStripe(async () => await fetchObservations(subjectId, openStripeAccount(platform, context))),
        );
  return {
    reason,
    observations: (observations ?? []).map((observation) => withIntentDate(observation, renewsSince)),
    ...(pricesChanged && { pricesChanged }),
  };
}

/** Adds the date of a reverted cancelation, unless the subscription was canceled again. */
const withIntentDate = (observation: Observation, renewsSince: EpochMillis | undefined): Observation =>
  renewsSince === undefined || observation.purchase.renewalIntent !== 'Renew'
    ? observation
    : { ...observation, purchase: { ...observation.purchase, renewalIntentChangeDate: renewsSince } };
