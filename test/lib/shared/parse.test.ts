import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { parse } from '../../../lib/shared/parse.ts';

const Schema = v.object({
  code: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
  day: v.pipe(v.string(), v.isoDate('a day such as 2026-01-31')),
  amount: v.pipe(v.number(), v.maxValue(9)),
  kind: v.picklist(['one', 'two']),
});
const good = { code: 'EUR', day: '2026-01-31', amount: 1, kind: 'one' };

describe('what is refused', () => {
  it.each([
    [{ ...good, code: 'secret' }, 'code: expected another form.'],
    [{ ...good, code: 7 }, 'code: expected a text.'],
    [{ ...good, day: 'secret' }, 'day: expected a day such as 2026-01-31.'],
    [{ ...good, amount: 10 }, 'amount: expected at most 9.'],
    [{ ...good, kind: 'secret' }, 'kind: expected "one" or "two".'],
    [{}, 'code is missing.'],
    ['secret', 'the content: expected an object.'],
  ])('is named in words, without a regular expression or the value: %j', (value, message) => {
    expect(() => parse(Schema, value)).toThrow(message);
  });
});
