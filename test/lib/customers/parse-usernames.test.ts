import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseUsernames } from '../../../lib/customers/parse-usernames.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

/** Usernames that have one reading, because they do not contain an encoded character. */
const plainName = name.filter((text) => !/%[\da-f]{2}/i.test(text));
const withoutComma = (text: string): boolean => !text.includes(',');
const distinct = (texts: fc.Arbitrary<string>) => fc.uniqueArray(texts, { maxLength: 10 });
const encodeAll = (names: readonly string[]): string[] => names.map(encodeURIComponent);

describe('parseUsernames', () => {
  it('returns the usernames of a list that was encoded once, with the URL', () => {
    fc.assert(
      fc.property(distinct(plainName.filter(withoutComma)), (names) => {
        // A list with commas is also returned as one username.
        expect(parseUsernames(names.join(',')).slice(0, names.length)).toEqual(names);
      }),
    );
  });

  it('returns a single username with commas, encoded any number of times', () => {
    fc.assert(
      fc.property(
        fc.tuple(name, name).map(([a, b]) => `${a},${b}`),
        (text) => {
          for (const [sent] of [[text], encodeAll([text]), encodeAll(encodeAll([text]))])
            expect(parseUsernames(sent ?? '')).toContain(text);
        },
      ),
    );
  });

  it('returns usernames with commas that were encoded twice', () => {
    fc.assert(
      fc.property(distinct(plainName), (names) => {
        const usernames = parseUsernames(encodeAll(names).join(','));
        expect(usernames.filter((text) => names.includes(text))).toEqual(names);
      }),
    );
  });

  it('returns usernames with encoded characters, encoded any number of times', () => {
    const encodedName = fc
      .tuple(name, name, fc.constantFrom('%2F', '%25', '%C3%A9', '%zz', '%'))
      .map(([a, b, c]) => a + c + b);
    fc.assert(
      fc.property(distinct(encodedName.filter(withoutComma)), (names) => {
        for (const sent of [names, encodeAll(names), encodeAll(encodeAll(names))])
          expect(parseUsernames(sent.join(','))).toEqual(expect.arrayContaining(names));
      }),
    );
  });

  it.each([
    ['100%', ['100%']],
    ['100%,50%25', ['100%', '50%25', '50%', '100%,50%25']],
    ['100%25,50%25', ['100%25', '100%', '50%25', '50%', '100%25,50%25', '100%,50%']],
    ['100%25', ['100%25', '100%']],
    ['%E0%A4%A', ['%E0%A4%A']],
    ['%2F', ['%2F', '/']],
    ['a+b c', ['a+b c']],
    ['ann,,ann,', ['ann', 'ann,,ann,']],
    [',', [',']],
    ['', []],
  ])('parses %s as %j', (list, names) => {
    expect(parseUsernames(list)).toEqual(names);
  });

  it('returns only the decoded username if the encoded text is too long for a username', () => {
    const name = '😀'.repeat(225);
    expect(parseUsernames(encodeURIComponent(name))).toEqual([name]);
  });

  it.each([
    ['an invalid username', 'x'.repeat(901)],
    ['an invalid username in a list', `ann,${encodeURIComponent('😀'.repeat(226))}`],
    ['half of a surrogate pair', '\ud83d'],
    ['more than 1,000 usernames', Array.from({ length: 1_001 }, (_, number) => number).join(',')],
  ])('rejects %s', (_what, list) => {
    expect(() => parseUsernames(list)).toThrow(expect.objectContaining({ code: 'InvalidPayload' }));
  });
});
