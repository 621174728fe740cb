import { describe, expect, it } from '@jest/globals';
import { apiKeyLevels, generateApiKey } from '../../../../lib/apps/app.ts';
import {
  containsSecretPattern,
  redactSecretPatterns,
  sanitizeId,
  sanitizeText,
} from '../../../../lib/foundation/redaction/redact-text.ts';

const bodyBytes = 2_000_000;
const repeat = (text: string): string => text.repeat(bodyBytes / text.length);
const jws = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
const jwe = `${jws}.c2lnbmF0dXJl.YXV0aA`;

describe('redactSecretPatterns', () => {
  it.each([
    ['a signed message', `got ${jws} back`, 'got [removed] back'],
    ['an encrypted message', `got ${jwe} back`, 'got [removed] back'],
    ['a signed message inside a run', `token-${jws}`, 'token-[removed]'],
    ['a signed message after another part', `a.b-${jws}`, 'a.b-[removed]'],
    ['a receipt', `got ${'aB1+'.repeat(20)}.`, 'got [removed].'],
    ['an access token', `got ak_${'a1B2'.repeat(8)}.`, 'got [removed].'],
    ['a credential', 'Bearer   abcdefgh', '[removed]'],
  ])('removes %s', (_kind, text, expected) => {
    expect(redactSecretPatterns(text)).toBe(expected);
  });

  it.each(apiKeyLevels)('removes a key of the level %s from texts and ids', (level) => {
    const key = generateApiKey(level);
    expect([redactSecretPatterns(`got ${key}.`), sanitizeId(key)]).toEqual(['got [removed].', '[removed]']);
    expect(containsSecretPattern(key)).toBe(true);
  });

  it.each([
    ['long runs without digits', 'aB'.repeat(60)],
    ['runs of 79 characters', `${'aB1+'.repeat(19)}aB1`],
    ['a name that begins like a signed message', 'eyjolfur.jonsson@example.com'],
    ['a header without a second part', 'eyJhbGciOiJFUzI1NiJ9.'],
    ['short keys', 'ak_short sec_-_'],
  ])('keeps %s', (_kind, text) => {
    expect(redactSecretPatterns(text)).toBe(text);
  });

  // Quadratic patterns need minutes for these texts.
  it.each([
    ...['a', 'A+', 'aB', '-eyJabcdef', 'eyJ', '-eyJ.', 'ak_ ', 'Bearer ', ' ', '.', 'whsec_a ', '-----BEGI', '='],
  ])('keeps a text of 2 MB that repeats %j', (part) => {
    expect(redactSecretPatterns(repeat(part)) === repeat(part)).toBe(true);
  });

  it.each([
    ['-eyJabcdef..', '-[removed]'],
    ['ak_-', '[removed]'],
    ['aB1+', '[removed]'],
    ['Bearer abcdefgh ', '[removed] '.repeat(bodyBytes / 16)],
  ])('redacts a text of 2 MB that repeats %j', (part, expected) => {
    expect(redactSecretPatterns(repeat(part)) === expected).toBe(true);
  });
});

describe('sanitizeText', () => {
  it('truncates a text after its redaction', () => {
    expect(sanitizeText(`${'aB1+'.repeat(4_000)} end`)).toBe('[removed] end');
    const trimmed = sanitizeText(repeat('a b '));
    expect(trimmed.length).toBe('[trimmed]'.length + 301);
    expect([sanitizeText(trimmed), sanitizeText(`${repeat('a b ')} [trimmed]`)]).toEqual([trimmed, trimmed]);
  });
});

describe('sanitizeId', () => {
  it('keeps a purchase token of store_b and removes a signed message', () => {
    const token = 'aBcD1234-_'.repeat(15);
    expect(sanitizeId(token)).toBe(token);
    expect(sanitizeId(jws)).toBe('[removed]');
    expect([containsSecretPattern(token), containsSecretPattern(jws)]).toEqual([false, true]);
  });
});
