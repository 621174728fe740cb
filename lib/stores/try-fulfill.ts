import type { EventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { Observation } from '../purchases/observation.ts';
import type { FulfillmentRequest, Store } from './store.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Acknowledges or consumes stored purchases at their store. Returns the changed purchases. A failure is recorded in the
 * event; the next refresh tries again.
 */
export async function tryFulfill(
  store: Store,
  request: FulfillmentRequest,
  { storeContext, recorder }: { readonly storeContext: StoreContext; readonly recorder: EventRecorder },
): Promise<readonly Observation[]> {
  if (!store.fulfill || request.observations.length === 0) return [];
  return await store.fulfill(request, storeContext).catch((failure: unknown) => {
    const { message } = ServiceError.fromUnknown(failure);
    recorder.addContent({ refreshFailures: [{ platform: store.platform, reason: message }] });
    return [];
  });
}
