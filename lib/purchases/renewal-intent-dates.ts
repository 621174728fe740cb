import * as v from 'valibot';
import type { RenewalIntent } from '../api/enumerations.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';

/** The latest change to each renewal intent, in epoch milliseconds. */
export const RenewalIntentDates = v.object({ Lapse: v.exactOptional(v.number()), Renew: v.exactOptional(v.number()) });
export type RenewalIntentDates = v.InferOutput<typeof RenewalIntentDates>;

interface IntentState {
  readonly renewalIntent?: RenewalIntent;
  readonly renewalIntentChangeDate?: EpochMillis;
  readonly renewalIntentDates?: RenewalIntentDates;
}

/** Merges the changes of two states. Idempotent, commutative and associative. */
export function mergeRenewalIntentDates(a: IntentState, b: IntentState): RenewalIntentDates | undefined {
  const dates = [a, b].map(readDates);
  const merged = omitUndefined({
    Lapse: findLatest(dates.map(({ Lapse }) => Lapse)),
    Renew: findLatest(dates.map(({ Renew }) => Renew)),
  });
  return Object.keys(merged).length > 0 ? merged : undefined;
}

/**
 * Returns the date of the change to the present renewal intent. Returns undefined if the store has not reported it: an earlier
 * date belongs to an earlier intent.
 */
export function resolveRenewalIntentChangeDate(
  { renewalIntent }: IntentState,
  dates: RenewalIntentDates = {},
): EpochMillis | undefined {
  if (renewalIntent === undefined) return undefined;
  const [present, opposite] = renewalIntent === 'Lapse' ? [dates.Lapse, dates.Renew] : [dates.Renew, dates.Lapse];
  return present !== undefined && present >= (opposite ?? 0) ? present : undefined;
}

/** Reads the dates of a state. An observation, and a state of an earlier version, has only the date of its intent. */
function readDates({ renewalIntent, renewalIntentChangeDate, renewalIntentDates }: IntentState): RenewalIntentDates {
  if (renewalIntentDates) return renewalIntentDates;
  if (renewalIntent === undefined || renewalIntentChangeDate === undefined) return {};
  return renewalIntent === 'Lapse' ? { Lapse: renewalIntentChangeDate } : { Renew: renewalIntentChangeDate };
}

function findLatest(dates: readonly (EpochMillis | undefined)[]): EpochMillis | undefined {
  const existing = dates.filter((date) => date !== undefined);
  return existing.length > 0 ? Math.max(...existing) : undefined;
}
