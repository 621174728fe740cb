import { describe, expect, it } from '@jest/globals';
import { selectLocales } from '../../console/format.ts';

describe('selectLocales', () => {
  it('leaves out languages that Intl rejects', () => {
    const locales = selectLocales(['en-US@posix', 'de-CH', 'C', 'fr']);
    expect(locales).toEqual(['de-CH', 'fr']);
    expect(new Intl.NumberFormat(locales).format(1)).toBe('1');
  });
});
