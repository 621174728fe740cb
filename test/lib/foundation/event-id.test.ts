import { describe, expect, it } from '@jest/globals';
import { createRequestEventId, parseEventDate } from '../../../lib/foundation/event-id.ts';

const date = Date.parse('2026-11-28T07:00:00Z');

describe('createRequestEventId', () => {
  it('ends with the last two groups of the request id, and contains the date', () => {
    const id = createRequestEventId(date, 'c6af9ac6-7b61-4de6-9a41-93e8deadbeef');
    expect([id.slice(-18), parseEventDate(id)]).toEqual(['-9a41-93e8deadbeef', date]);
  });

  // The end of a UUID version 1 is the same for all ids of a machine.
  it.each(['c6af9ac6-7b61-11e6-9a41-93e8deadbeef', 'JKJaXmPLvHcESHA=', undefined])(
    'contains a random part for %s',
    (requestId) => {
      const ids = [createRequestEventId(date, requestId), createRequestEventId(date, requestId)];
      expect(new Set(ids.map((id) => id.slice(-17))).size).toBe(2);
      expect(ids.map(parseEventDate)).toEqual([date, date]);
    },
  );
});
