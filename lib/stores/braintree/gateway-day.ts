import { dayMs, type EpochMillis, secondMs } from '../../foundation/time.ts';

/** The time zone in which a day ends last: UTC-12. */
export const westernmostTimeZone = 'Etc/GMT+12';

/** An IANA time zone that the runtime supports. */
export function isTimeZone(text: string): boolean {
  try {
    createFormat(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the end of a day (ISO 8601 date) in a time zone. Braintree's dates are days in the time zone of the gateway,
 * which its API does not return.
 *
 * @see https://github.com/braintree/braintree_ruby/issues/161
 */
export function getDayEnd(day: string, timeZone: string): EpochMillis {
  const midnight = Date.parse(day) + dayMs;
  const estimate = midnight - getOffsetMs(midnight, timeZone);
  return midnight - getOffsetMs(estimate, timeZone);
}

/** Returns the difference between local time and UTC. */
function getOffsetMs(at: EpochMillis, timeZone: string): number {
  const parts = createFormat(timeZone).formatToParts(at);
  const { year = 0, month = 1, ...rest } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return (
    Date.UTC(year, month - 1, rest.day, rest.hour, rest.minute, rest.second) - Math.floor(at / secondMs) * secondMs
  );
}

const createFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
