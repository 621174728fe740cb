import * as v from 'valibot';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import { parse } from '../../shared/parse.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { tryFetchOwnPurchase } from '../try-fetch-own-purchase.ts';
import { fetchObservation } from './fetch-observations.ts';
import type { ProcessorAPlatform } from './mapping-context.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe } from './stripe-client.ts';

/** Payload of a queued notification, as `receive` creates it. */
const NotificationPayload = v.object({
  reason: NotificationReason,
  subjectId: v.exactOptional(v.string()),
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
  platform: ProcessorAPlatform,
): Promise<ObservedNotification> {
  const { reason, subjectId, pricesChanged } = parse(NotificationPayload, payload, 'InternalError');
  const observation =
    subjectId === undefined
      ? undefined
      : await tryFetchOwnPurchase(
          async () =>
            await callStripe(async () => await fetchObservation(subjectId, openStripeAccount(platform, context))),
        );
  return { reason, observations: observation ? [observation] : [], ...(pricesChanged && { pricesChanged }) };
}
