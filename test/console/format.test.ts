import { describe, expect, it } from '@jest/globals';
import { formatChange, formatDuration, formatUsd, selectLocales } from '../../console/format.ts';

describe('selectLocales', () => {
  it('leaves out languages that Intl rejects', () => {
    const locales = selectLocales(['en-US@posix', 'de-CH', 'C', 'fr']);
    expect(locales).toEqual(['de-CH', 'fr']);
    expect(new Intl.NumberFormat(locales).format(1)).toBe('1');
  });
});

describe('formatUsd', () => {
  it('rounds half a cent of a sum up', () => {
    expect(formatUsd((64.64 + 64.63) / 2)).toBe('$64.64');
    expect(formatUsd(0.3 - 0.1 - 0.2)).toBe('$0.00');
  });
});

describe('formatDuration', () => {
  it.each([
    [340, '340 ms'],
    [2_120, '2.1 s'],
    [300_000, '5 min'],
    [5_400_000, '1.5 h'],
  ])('formats %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('formatChange', () => {
  it.each([
    [150, 100, '+50%'],
    [50, 100, '-50%'],
    [100, 100, '0%'],
    [-50, 100, '-150%'],
    [50, -100, '+150%'],
    [-200, -100, '-100%'],
  ])('describes %d after %d as %s', (current, previous, text) => {
    expect(formatChange(current, previous)).toBe(text);
  });
});
