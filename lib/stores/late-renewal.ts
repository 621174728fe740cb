import { minuteMs } from '../foundation/time.ts';

/**
 * Time until the next query of a subscription that a store still reports as active after its expiration date. It keeps
 * access until then: the store renews it some minutes late.
 */
export const lateRenewalMs = 10 * minuteMs;
