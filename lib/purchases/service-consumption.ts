import * as v from 'valibot';
import { OptionalBoolean, OptionalNumber, OptionalText } from '../api/schemas.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';

/** A validation for which this service consumes a purchase at the store. */
export const ServiceConsumption = v.object({
  /** Time of the validation, in epoch milliseconds. */
  date: v.number(),
  /** The customer of the validation. Undefined for a request without `applicationUsername`. */
  username: OptionalText,
  /** Values that the consumption replaces. */
  before: v.object({ isAcknowledged: OptionalBoolean, quantity: OptionalNumber }),
});
export type ServiceConsumption = v.InferOutput<typeof ServiceConsumption>;

/**
 * Time in which a repeated validation has the same response as the first one. A client that lost the response credits
 * the consumable only if it is not consumed: the service consumed it before the response was sent.
 */
const repetitionWindowMs = 2 * dayMs;

/** The part of a purchase that the consumption changes. */
interface ConsumablePurchase {
  readonly isConsumed?: boolean;
  readonly isAcknowledged?: boolean;
  readonly quantity?: number;
  readonly serviceConsumption?: ServiceConsumption;
}

/** Adds the consumption that the service is going to perform for this customer. */
export function withServiceConsumption<P extends ConsumablePurchase>(
  purchase: P,
  username: string | undefined,
  date: EpochMillis,
): P {
  const { isAcknowledged, quantity } = purchase;
  const before = omitUndefined({ isAcknowledged, quantity });
  return { ...purchase, serviceConsumption: { date, ...omitUndefined({ username }), before } };
}

/** The service has consumed the purchase for this customer, recently enough to repeat the first response. */
export function isRepeatedValidation(
  { isConsumed, serviceConsumption }: ConsumablePurchase,
  username: string | undefined,
  now: EpochMillis,
): boolean {
  if (!isConsumed || !serviceConsumption || serviceConsumption.username !== username) return false;
  return now - serviceConsumption.date < repetitionWindowMs;
}

/** Returns the purchase as in the response to the validation that caused the consumption. */
export function restoreBeforeConsumption<P extends ConsumablePurchase>(
  purchase: P,
  username: string | undefined,
  now: EpochMillis,
): P {
  const { serviceConsumption } = purchase;
  return serviceConsumption && isRepeatedValidation(purchase, username, now)
    ? { ...purchase, isConsumed: false, ...serviceConsumption.before }
    : purchase;
}

/** Returns the later consumption. The order of the arguments does not matter. */
export function chooseLaterConsumption(a?: ServiceConsumption, b?: ServiceConsumption): ServiceConsumption | undefined {
  if (!a || !b) return a ?? b;
  if (a.date !== b.date) return a.date > b.date ? a : b;
  return toCanonicalJson(a) > toCanonicalJson(b) ? a : b;
}
