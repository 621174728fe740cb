import { ServiceError } from '../foundation/errors.ts';
import type { Observation } from '../purchases/observation.ts';

/**
 * Fetches the purchase of a notification. Returns undefined if `fetchPurchase` throws `InvalidPayload`: the store no
 * longer has the purchase, or it belongs to another app with the same account, which receives the notification itself.
 */
export async function tryFetchOwnPurchase<T extends Observation | readonly Observation[]>(
  fetchPurchase: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await fetchPurchase();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'InvalidPayload') return undefined;
    throw error;
  }
}
