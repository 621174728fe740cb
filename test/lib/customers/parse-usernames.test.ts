import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseUsernames } from '../../../lib/customers/parse-usernames.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
/** Names in which nothing looks encoded: there is only one way to read them. */
const plainName = name.filter((text) => !/%[\da-f]{2}/i.test(text));
const withoutComma = (text: string): boolean => !text.includes(',');
const distinct = (one: fc.Arbitrary<string>) => fc.uniqueArray(one, { maxLength: 10 });
const encoded = (names: readonly string[]): string[] => names.map(encodeURIComponent);

describe('a list of names', () => {
  it('that were encoded once, by the address alone, gives the names back', () => {
    fc.assert(
      fc.property(distinct(plainName.filter(withoutComma)), (names) => {
        // The last one is the list itself, where it has commas: a single name may look so.
        expect(parseUsernames(names.join(',')).slice(0, names.length)).toEqual(names);
      }),
    );
  });

  it('is one name, commas and all, however often that was encoded', () => {
    fc.assert(
      fc.property(
        fc.tuple(name, name).map(([a, b]) => `${a},${b}`),
        (text) => {
          for (const [sent] of [[text], encoded([text]), encoded(encoded([text]))])
            expect(parseUsernames(sent ?? '')).toContain(text);
        },
      ),
    );
  });

  it('that were encoded each, then with the address, finds every name, commas and all', () => {
    fc.assert(
      fc.property(distinct(plainName), (names) => {
        const found = parseUsernames(encoded(names).join(','));
        expect(found.filter((text) => names.includes(text))).toEqual(names);
      }),
    );
  });

  it('finds names that look encoded themselves, however often they were encoded', () => {
    const encodedLook = fc
      .tuple(name, name, fc.constantFrom('%2F', '%25', '%C3%A9', '%zz', '%'))
      .map(([a, b, c]) => a + c + b);
    fc.assert(
      fc.property(distinct(encodedLook.filter(withoutComma)), (names) => {
        for (const sent of [names, encoded(names), encoded(encoded(names))])
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
  ])('reads %s as %j', (list, names) => {
    expect(parseUsernames(list)).toEqual(names);
  });

  it('takes a name for what it can be: a long text is the encoded form of a shorter name', () => {
    const name = '😀'.repeat(225);
    expect(parseUsernames(encodeURIComponent(name))).toEqual([name]);
  });

  it.each([
    ['a name that no user can have', 'x'.repeat(901)],
    ['one such name among others', `ann,${encodeURIComponent('😀'.repeat(226))}`],
    ['half a character', '\ud83d'],
    ['more names than can be asked for', Array.from({ length: 1_001 }, (_, number) => number).join(',')],
  ])('is refused with %s', (_what, list) => {
    expect(() => parseUsernames(list)).toThrow(expect.objectContaining({ code: 'InvalidPayload' }));
  });
});
