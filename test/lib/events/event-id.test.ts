import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createEventId,
  parseAttemptEventId,
  parseEventDate,
  toAttemptEventId,
} from '../../../lib/foundation/event-id.ts';

const dates = fc.integer({ min: 0, max: 9_999_999_999_999 });
const deliveryId = '0123456789abcdef0123456789abcdef';

describe('createEventId', () => {
  it('returns a UUID version 7 that contains the date', () => {
    fc.assert(
      fc.property(dates, (date) => {
        const id = createEventId(date);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(parseEventDate(id)).toBe(date);
      }),
    );
  });

  it('returns different ids for one date, and the same id for the same random bytes', () => {
    expect(createEventId(1)).not.toBe(createEventId(1));
    expect(createEventId(1, Buffer.alloc(32, 7))).toBe(createEventId(1, Buffer.alloc(32, 7)));
  });
});

describe('toAttemptEventId', () => {
  it('returns an id that contains the delivery and the date', () => {
    fc.assert(
      fc.property(dates, (date) => {
        const id = toAttemptEventId(deliveryId, date);
        expect([parseAttemptEventId(id), parseEventDate(id)]).toEqual([deliveryId, date]);
      }),
    );
  });
});

describe('parseEventDate', () => {
  it.each([
    'd296d19c-ba8f-485d-8f11-f94eaaeb7bbc',
    deliveryId,
    `${deliveryId}-mi7k2a1b`,
    'ann',
    '__proto__',
    `${deliveryId}.zzzzzzzzzz`,
  ])('returns no date for the id %s, which another kind of item has', (id) => {
    expect(parseEventDate(id)).toBeUndefined();
  });
});
