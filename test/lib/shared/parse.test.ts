import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { parse } from '../../../lib/shared/parse.ts';

const Schema = v.object({
  code: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
  day: v.pipe(v.string(), v.isoDate('a day such as 2026-01-31')),
  amount: v.pipe(v.number(), v.maxValue(9)),
  kind: v.picklist(['one', 'two']),
});
const valid = { code: 'EUR', day: '2026-01-31', amount: 1, kind: 'one' };

describe('parse', () => {
  it.each([
    [{ ...valid, code: 'secret' }, 'code: expected another format.'],
    [{ ...valid, code: 7 }, 'code: expected a string.'],
    [{ ...valid, day: 'secret' }, 'day: expected a day such as 2026-01-31.'],
    [{ ...valid, amount: 10 }, 'amount: expected at most 9.'],
    [{ ...valid, kind: 'secret' }, 'kind: expected "one" or "two".'],
    [{}, 'code is missing.'],
    ['secret', 'the content: expected an object.'],
  ])('names the invalid field of %j without the value or a regular expression', (value, message) => {
    expect(() => parse(Schema, value)).toThrow(message);
  });
});
