import { describe, expect, it } from '@jest/globals';
import { buildCsv } from '../../console/components/csv.ts';

describe('buildCsv', () => {
  it.each(['=1', '+1', '-1', '@a', '\t=1', '\r=1', '\n=1', ' =1', '  \n =1', '\u00a0=1', '\ufeff=1', '＝1', '\n1'])(
    'writes %j as text, not as a formula',
    (text) => {
      const [cell] = buildCsv([[text]])
        .slice(1)
        .split('\r\n');
      expect(cell?.replace(/^"/, '')).toMatch(/^'/);
    },
  );

  it('writes numbers, other texts and quotes unchanged', () => {
    expect(buildCsv([[-1, 'a=1', ' a', 'a "b"', null, true]])).toBe('\uFEFF-1,a=1, a,"a ""b""",,true\r\n');
  });
});
