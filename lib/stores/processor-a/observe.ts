import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import { parse } from '../../shared/parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { ObservedNotification, StoreContext, StoreNotification } from '../store.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe } from './stripe-client.ts';
import { fetchObservation } from './fetch-observations.ts';
import type { ProcessorAPlatform } from './mapping-context.ts';

const NotificationPayload = v.object({
  reason: NotificationReason,
  subjectId: v.exactOptional(v.string()),
  pricesChanged: v.exactOptional(v.literal(true)),
});

/** What an event is about, as the processor shows it now: events come in any order, and are older than that. */
export async function observe(
  { payload: content }: StoreNotification,
  { platform, asking }: { readonly platform: ProcessorAPlatform; readonly asking: StoreContext },
): Promise<ObservedNotification> {
  const { reason, subjectId: about, pricesChanged } = parse(NotificationPayload, content, 'InternalError');
  const observation = about === undefined ? undefined : await tryFetchOwnPurchase(about, { platform, asking });
  return { reason, observations: observation ? [observation] : [], ...(pricesChanged && { pricesChanged }) };
}

/** Undefined for what is no purchase, or another application's on the same account: its own endpoint hears of it. */
async function tryFetchOwnPurchase(
  id: string,
  { platform, asking }: { readonly platform: ProcessorAPlatform; readonly asking: StoreContext },
): Promise<Observation | undefined> {
  try {
    return await callStripe(async () => await fetchObservation(id, openStripeAccount(platform, asking)));
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'InvalidPayload') return undefined;
    throw thrown;
  }
}
