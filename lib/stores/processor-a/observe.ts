import * as v from 'valibot';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
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
  const observation = subjectId === undefined ? undefined : await tryFetchOwnPurchase(subjectId, context, platform);
  return { reason, observations: observation ? [observation] : [], ...(pricesChanged && { pricesChanged }) };
}

/**
 * Returns undefined if the object is not a purchase, or belongs to another app with the same account. The other app
 * receives the event at its own endpoint.
 */
async function tryFetchOwnPurchase(
  id: string,
  context: StoreContext,
  platform: ProcessorAPlatform,
): Promise<Observation | undefined> {
  try {
    return await callStripe(async () => await fetchObservation(id, openStripeAccount(platform, context)));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'InvalidPayload') return undefined;
    throw error;
  }
}
