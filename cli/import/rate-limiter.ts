import { setTimeout } from 'node:timers/promises';
import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import { secondMs } from '../../lib/foundation/time.ts';

/** Calls per second of each store. */
export type StoreRates = Readonly<Record<Platform, number>>;

/**
 * Default rates: half of the documented limits. The other half is left for the requests of customers.
 * - store_a: 50 calls per second and endpoint.
 *   @see https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
 * - store_b: 3,000 calls per minute and bucket.
 *   @see https://developers.google.com/android-publisher/quotas
 * - store_c: 200 calls in 5 minutes and customer.
 *   @see https://learn.microsoft.com/en-us/gaming/gdk/_content/gc/commerce/service-to-service/xstore-fgrl
 * - processor_a: 25 calls per second and endpoint.
 *   @see https://docs.stripe.com/rate-limits
 * - processor_b: no published limit.
 */
export const defaultRates: StoreRates = {
  [platformTokens.appStore]: 25,
  [platformTokens.googlePlay]: 25,
  [platformTokens.microsoftStore]: 10,
  [platformTokens.stripe]: 12,
  [platformTokens.serviceStripe]: 12,
  [platformTokens.braintree]: 5,
};

export interface RateLimiter<Key extends string = Platform> {
  /** Waits until the next call is permitted. Throws an `AbortError` if the signal is aborted. */
  acquire(key: Key, signal: AbortSignal): Promise<void>;
  /** Counts a call that did not wait: the next callers wait longer. */
  charge(key: Key): void;
}

/**
 * Limits the average rate of calls. The calls of a row after its first one do not wait, because the time budget of an
 * adapter would expire. Uses `performance.now()`: the emulator can move the service clock.
 */
export function createRateLimiter<Key extends string>(rates: Readonly<Record<Key, number>>): RateLimiter<Key> {
  const freeAt = new Map<Key, number>();
  const take = (key: Key): number => {
    const startsAt = Math.max(performance.now(), freeAt.get(key) ?? 0);
    freeAt.set(key, startsAt + secondMs / rates[key]);
    return startsAt;
  };
  return {
    async acquire(key, signal) {
      const waitMs = take(key) - performance.now();
      if (waitMs > 0) await setTimeout(waitMs, undefined, { signal });
    },
    charge(key) {
      take(key);
    },
  };
}
