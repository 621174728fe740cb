import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from './purchase.ts';

type IntentDates = NonNullable<Purchase['renewalIntentDates']>;
type IntentFields = Pick<Purchase, 'renewalIntent' | 'renewalIntentChangeDate' | 'renewalIntentDates'>;

/**
 * Merges the dates at which the customer chose each renewal intent. `renewalIntentChangeDate` is the date of the latest
 * state's intent; it is absent if the only known date is older than the choice of the other intent. Idempotent and
 * commutative.
 */
export function mergeRenewalIntent(latest: IntentFields, earlier: IntentFields): Partial<IntentFields> {
  const renewalIntentDates = mergeDates(listIntentDates(latest), listIntentDates(earlier));
  const { renewalIntent } = latest;
  const date = renewalIntent && renewalIntentDates[renewalIntent];
  const otherDate = renewalIntentDates[renewalIntent === 'Lapse' ? 'Renew' : 'Lapse'] ?? Number.NEGATIVE_INFINITY;
  return {
    ...(Object.keys(renewalIntentDates).length > 0 && { renewalIntentDates }),
    ...(date !== undefined && date >= otherDate && { renewalIntentChangeDate: date }),
  };
}

const listIntentDates = ({ renewalIntent, renewalIntentChangeDate, renewalIntentDates }: IntentFields): IntentDates =>
  renewalIntentDates ??
  (renewalIntent && renewalIntentChangeDate !== undefined ? { [renewalIntent]: renewalIntentChangeDate } : {});

const mergeDates = (a: IntentDates, b: IntentDates): IntentDates => ({
  ...pickLater('Lapse', a, b),
  ...pickLater('Renew', a, b),
});

function pickLater(intent: keyof IntentDates, a: IntentDates, b: IntentDates): IntentDates {
  const dates: EpochMillis[] = [a, b].flatMap((known) => known[intent] ?? []);
  return dates.length > 0 ? { [intent]: Math.max(...dates) } : {};
}
