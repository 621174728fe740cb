import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { DateOrDateTime } from '../../../lib/api/paging.ts';
import { nullableOptional, Username } from '../../../lib/api/schemas.ts';
import { claimKey, grantKey, purchaseKey, tagKey } from '../../../lib/foundation/keys.ts';
import { parse } from '../../../lib/foundation/parse.ts';

const Schema = v.object({
  code: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
  day: v.pipe(v.string(), v.isoDate('a day such as 2026-01-31')),
  amount: v.pipe(v.number(), v.maxValue(9)),
  kind: v.picklist(['one', 'two']),
  until: nullableOptional(DateOrDateTime),
  name: nullableOptional(Username),
  since: v.exactOptional(v.union([DateOrDateTime, v.number()], 'a day or epoch milliseconds')),
});
const valid = { code: 'EUR', day: '2026-01-31', amount: 1, kind: 'one' };

describe('parse', () => {
  it.each([
    [{ ...valid, code: 'secret' }, 'code: expected another format.'],
    [{ ...valid, code: 7 }, 'code: expected a string.'],
    [{ ...valid, day: 'secret' }, 'day: expected a day such as 2026-01-31.'],
    [{ ...valid, amount: 10 }, 'amount: expected at most 9.'],
    [{ ...valid, kind: 'secret' }, 'kind: expected "one" or "two".'],
    [{ ...valid, until: 'secret' }, 'until: expected a date or a date-time of ISO 8601.'],
    [{ ...valid, until: '2026-02-30' }, 'until: expected a day that exists.'],
    [{ ...valid, until: 5 }, 'until: expected "" or null or a string.'],
    [{ ...valid, name: 'é'.repeat(451) }, 'name: expected at most 900 bytes.'],
    [{ ...valid, since: '2026' }, 'since: expected a day or epoch milliseconds.'],
    [{}, 'code is missing.'],
    ['secret', 'the content: expected an object.'],
  ])('names the invalid field of %j without the value or a regular expression', (value, message) => {
    expect(() => parse(Schema, value)).toThrow(message);
  });

  it.each([
    [purchaseKey('app', 'store_a:1'), 'Item: app#P#store_a:1 P'],
    [claimKey('app', 'store_a:1', 'ann'), 'Item: app#P#store_a:1 C#*'],
    [grantKey('app', 'ann#1', 'grant_1'), 'Item: app#C#* G#grant_1'],
    [tagKey('app', 'ann', 0, 'event'), 'Item: app#G#* 0000000000000#event'],
  ])('names the stored item %j in the cause, without a username', (key, cause) => {
    const readItem = () => parse(Schema, { ...key, code: 7 }, 'DatabaseError');
    expect(readItem).toThrow(expect.objectContaining({ message: 'code: expected a string.', cause }));
  });
});
