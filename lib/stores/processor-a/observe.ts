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

const NotificationPayload = v.object({
  reason: NotificationReason,
  subjectId: v.exactOptional(v.string()),
  pricesChanged: v.exactOptional(v.literal(true)),
});

/** What an event is about, as the processor shows it now: events come in any order, and are older than that. */
export async function observe(
  { payload }: StoreNotification,
  { platform, asking: context }: { readonly platform: ProcessorAPlatform; readonly asking: StoreContext },
): Promise<ObservedNotification> {
  const { reason, subjectId, pricesChanged } = parse(NotificationPayload, payload, 'InternalError');
  const observation =
    subjectId === undefined ? undefined : await tryFetchOwnPurchase(subjectId, { platform, asking: context });
  return { reason, observations: observation ? [observation] : [], ...(pricesChanged && { pricesChanged }) };
}

/** Undefined for what is no purchase, or another application's on the same account: its own endpoint hears of it. */
async function tryFetchOwnPurchase(
  id: string,
  { platform, asking: context }: { readonly platform: ProcessorAPlatform; readonly asking: StoreContext },
): Promise<Observation | undefined> {
  try {
    return await callStripe(async () => await fetchObservation(id, openStripeAccount(platform, context)));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'InvalidPayload') return undefined;
    throw error;
  }
}
