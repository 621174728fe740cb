import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../../../lib/foundation/redaction/redact-text.ts';
import { sanitize } from '../../../../lib/foundation/redaction/sanitize.ts';

const list = (length: number, build: (index: number) => object) => Array.from({ length }, (_, index) => build(index));
const countTexts = (value: unknown, text: string): number =>
  JSON.stringify(value).split(JSON.stringify(text)).length - 1;

describe('sanitize', () => {
  const build = (phases: number) => ({
    products: list(20, () => ({
      offers: list(20, () => ({ pricingPhases: list(phases, () => ({ title: 'kept' })) })),
    })),
  });

  it('keeps at most 5,000 values of one body', () => {
    const sanitized = sanitize(build(20));
    expect(countTexts(sanitized, 'kept')).toBeGreaterThan(2_000);
    expect(countTexts(sanitized, 'kept')).toBeLessThan(5_000);
    expect(countTexts(sanitized, '[trimmed]')).toBeGreaterThan(0);
  });

  it('keeps every value of a request with 20 products, each with 3 offers of 2 phases', () => {
    const body = {
      products: list(20, () => ({ offers: list(3, () => ({ pricingPhases: list(2, () => ({ title: 'kept' })) })) })),
    };
    expect(sanitize(body)).toEqual(body);
  });

  it('removes the secrets beyond the maximum of values from messages', () => {
    const secrets = new Set<string>();
    sanitize({ ...build(20), purchase: { title: 'beyond the maximum' } }, { secrets });
    expect(secrets).toContain('beyond the maximum');
  });
});

describe('createRedactor', () => {
  it('removes a secret however long it is, even if the text repeats only its start', () => {
    const secret = `${'b'}${'a'.repeat(1_000_000)}`;
    const redact = createRedactor([secret]);
    expect(redact(`got ${secret.slice(0, 5_000)}! and ${secret.slice(0, 100)}`)).toBe('got [removed]! and [removed]');
    expect(redact(`got ${secret.slice(0, 20)}`)).toBe(`got ${secret.slice(0, 20)}`);
  });

  it('truncates a long text', () => {
    expect(createRedactor(['a-secret'])('x'.repeat(2_000_000))).toMatch(/^x{20000} \[trimmed\]$/);
  });

  it('removes whole texts instead of comparing them with more than 5,000 secrets', () => {
    const redact = createRedactor(Array.from({ length: 5_001 }, (_, index) => `secret number ${index}`));
    expect(redact('a message')).toBe('[removed]');
  });

  it('removes whole texts after the maximum work of an event', () => {
    const redact = createRedactor(Array.from({ length: 1_000 }, (_, index) => `secret-${index}`));
    const texts = Array.from({ length: 10 }, () => redact('x'.repeat(10_000)));
    expect(new Set(texts)).toEqual(new Set(['x'.repeat(10_000), '[removed]']));
    expect(texts.at(0)).not.toBe('[removed]');
    expect(texts.at(-1)).toBe('[removed]');
  });
});
