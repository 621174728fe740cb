import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatTable } from '../../cli/table.ts';

const keys = [
  { id: '3f2a', name: 'a key with a long name for the server', uses: 20_000 },
  { id: '9b', name: 'support', uses: 7 },
];
const columns = [
  { title: 'ID', value: ({ id }: (typeof keys)[number]) => id, isWhole: true },
  { title: 'NAME', value: ({ name }: (typeof keys)[number]) => name },
  { title: 'USES', value: ({ uses }: (typeof keys)[number]) => uses, align: 'right' },
] as const;

describe('formatTable', () => {
  it('aligns the columns without a terminal, one line for each row', () => {
    expect(formatTable(columns, keys)).toBe(
      [
        'ID    NAME                                    USES',
        '3f2a  a key with a long name for the server  20000',
        '9b    support                                    7',
      ].join('\n'),
    );
  });

  it('breaks long values to fit a terminal', () => {
    expect(formatTable(columns, keys, 30)).toBe(
      [
        'ID    NAME                USES',
        '3f2a  a key with a long  20000',
        '      name for the',
        '      server',
        '9b    support                7',
      ].join('\n'),
    );
  });

  it('formats each row as a list if the terminal is too narrow', () => {
    expect(formatTable(columns, keys.slice(1), 12)).toBe('ID    9b\nNAME  support\nUSES  7');
  });

  it('returns an empty text for no rows', () => {
    expect(formatTable(columns, [], 80)).toBe('');
  });

  it('measures wide characters', () => {
    const rows = [{ name: '山田太郎' }, { name: 'ann' }];
    const table = formatTable(
      [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'X', value: () => 'x' },
      ],
      rows,
    );
    expect(table.split('\n')).toEqual(['NAME      X', '山田太郎  x', 'ann       x']);
  });

  it('never exceeds a width of 80 and never loses a character of a value', () => {
    const text = fc.string({ unit: 'grapheme-ascii', maxLength: 120 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text, text), { minLength: 1 }),
        fc.integer({ min: 40, max: 80 }),
        (rows, width) => {
          const table = formatTable(
            [0, 1, 2].map((index) => ({ title: `T${index}`, value: (row: readonly string[]) => row[index] })),
            rows,
            width,
          );
          expect(table.split('\n').filter((line) => line.length > width)).toEqual([]);
          const sortCharacters = (value: string) => [...value.replaceAll(/\s/g, '')].sort().join('');
          expect(sortCharacters(table)).toBe(sortCharacters(`T0T1T2${rows.flat().join('')}`));
        },
      ),
    );
  });
});
