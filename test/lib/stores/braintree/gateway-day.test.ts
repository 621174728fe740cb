import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays } from '../../../../lib/foundation/calendar.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { getDayEnd, isTimeZone, westernmostTimeZone } from '../../../../lib/stores/braintree/gateway-day.ts';

const timeZones = [
  westernmostTimeZone,
  'UTC',
  'America/Chicago',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
];
const arbitraryDay = fc
  .integer({ min: 0, max: 20_000 })
  .map((days) => new Date(Date.parse('2000-01-01') + days * dayMs).toISOString().slice(0, 10));

/** Formats the calendar day of a time in a time zone. */
const formatDay = (at: number, timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);

describe('getDayEnd', () => {
  it('returns the first time of the following day in the time zone', () => {
    fc.assert(
      fc.property(arbitraryDay, fc.constantFrom(...timeZones), (day, timeZone) => {
        const end = getDayEnd(day, timeZone);
        expect([formatDay(end - 1, timeZone), formatDay(end, timeZone)]).toEqual([day, addDays(day, 1)]);
      }),
    );
  });

  it('returns the latest time in the westernmost time zone', () => {
    fc.assert(
      fc.property(arbitraryDay, fc.constantFrom(...Intl.supportedValuesOf('timeZone')), (day, timeZone) => {
        expect(getDayEnd(day, timeZone)).toBeLessThanOrEqual(getDayEnd(day, westernmostTimeZone));
      }),
    );
  });
});

describe('isTimeZone', () => {
  it('accepts IANA time zones only', () => {
    expect(['America/Chicago', 'Etc/GMT+12', 'Mars', 'GMT-5 or so', ''].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
