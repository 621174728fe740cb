import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readLines } from '../../../cli/import/read-lines.ts';
import { type FileFormat, type FileRow, getFileFormat, readRows } from '../../../cli/import/read-rows.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-rows-'));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function read(content: string | Buffer, format: FileFormat = 'csv'): Promise<FileRow[]> {
  const path = join(folder, `rows.${format}`);
  await writeFile(path, content);
  const rows: FileRow[] = [];
  for await (const row of readRows(readLines(path), getFileFormat(path))) rows.push(row);
  return rows;
}

const columns = ['platform', 'user', 'token'] as const;
const arbitraryValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => !text.includes('\ufeff')),
  fc.stringMatching(/^["\n\r, a\u2028]{0,8}$/),
);

/** A row with a value, because rows without one are left out. */
const arbitraryRow = fc.tuple(fc.constant('store_a'), arbitraryValue, arbitraryValue);
const arbitraryLineEnd = fc.constantFrom('\n', '\r\n');

interface CsvStyle {
  readonly lineEnd: string;
  readonly hasMark: boolean;
  readonly quotesAll: boolean;
  readonly endsWithLine: boolean;
}
const arbitraryStyle: fc.Arbitrary<CsvStyle> = fc.record({
  lineEnd: arbitraryLineEnd,
  hasMark: fc.boolean(),
  quotesAll: fc.boolean(),
  endsWithLine: fc.boolean(),
});

const toText = (values: readonly string[], { quotesAll }: Pick<CsvStyle, 'quotesAll'>): string =>
  values.map((value) => (quotesAll || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');

const toFile = (lines: readonly string[], { lineEnd, hasMark, endsWithLine }: CsvStyle): string =>
  `${hasMark ? '\ufeff' : ''}${lines.join(lineEnd)}${endsWithLine ? lineEnd : ''}`;

const toRaw = (values: readonly string[]) =>
  Object.fromEntries(columns.map((column, index) => [column, values[index]]));
const getRaw = (rows: readonly FileRow[]) => rows.flatMap((row) => ('raw' in row ? [row.raw] : []));

describe('readRows', () => {
  it('returns the values of any CSV of RFC 4180, with their lines', async () => {
    const property = fc.asyncProperty(fc.array(arbitraryRow, { maxLength: 8 }), arbitraryStyle, async (rows, style) => {
      const lines = [columns, ...rows].map((values) => toText(values, style));
      const result = await read(toFile(lines, style));
      expect(getRaw(result)).toEqual(rows.map(toRaw));
      const starts = lines.map(
        (_line, index) => 1 + lines.slice(0, index).join(style.lineEnd).split('\n').length - (index === 0 ? 1 : 0),
      );
      expect(result.map(({ line }) => line)).toEqual(starts.slice(1));
    });
    await fc.assert(property, { numRuns: 150 });
  }, 60_000);

  it('reports a row with invalid quotes or another number of values, and reads the other rows', async () => {
    const plain = fc.stringMatching(/^[a-z]{1,6}$/);
    const property = fc.asyncProperty(
      fc.array(fc.tuple(fc.constant('store_a'), plain, plain), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(
        'store_a,"never closed,x',
        'store_a,"closed"early,x',
        'store_a,a"b,x',
        'store_a,x',
        'store_a,x,y,z',
      ),
      fc.nat(),
      arbitraryStyle,
      async (rows, malformed, position, style) => {
        const index = position % (rows.length + 1);
        const lines = rows.map((values) => values.join(','));
        const result = await read(
          toFile([columns.join(','), ...lines.slice(0, index), malformed, ...lines.slice(index)], style),
        );
        expect(getRaw(result)).toEqual(rows.map(toRaw));
        expect(result.flatMap((row) => ('problem' in row ? [row.line] : []))).toEqual([index + 2]);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  }, 60_000);

  it('needs time in proportion to the number of rows after a stray quote', async () => {
    const measure = async (count: number): Promise<number> => {
      const rows = Array.from({ length: count }, (_, index) => `store_b,user,token-${index}`);
      const before = process.cpuUsage();
      const [stray, ...others] = await read([columns.join(), 'store_b,user,"token', ...rows].join('\n'));
      expect(stray).toMatchObject({ line: 2, problem: expect.any(String) });
      expect(others.filter((row) => 'raw' in row)).toHaveLength(count);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await measure(1_000);
    // 4 if it is linear, 16 if each line copies the rest of the file.
    expect((await measure(48_000)) / (await measure(12_000))).toBeLessThan(9);
  });

  it('returns the objects of JSON lines, and reports other lines', async () => {
    const text = '{"platform":"store_a","user":"a\u2028b"}\r\n\n[1]\n{"platform"\n{"user":null}';
    expect(await read(text, 'jsonl')).toEqual([
      { line: 1, raw: { platform: 'store_a', user: 'a\u2028b' } },
      { line: 3, problem: 'The line is not a JSON object.' },
      { line: 4, problem: 'The line is not a JSON object.' },
      { line: 5, raw: { user: null } },
    ]);
  });

  it('rejects a misspelled column, which would import unowned purchases', async () => {
    await expect(read('platform,usr,token\n')).rejects.toThrow(/^The column "usr" is unknown. Columns: platform, /);
    await expect(read('platform,user,user\n')).rejects.toThrow('The first line contains a column twice.');
  });

  it('reads UTF-16 with a byte order mark, and knows where each line ends', async () => {
    const content = Buffer.from('\ufeffplatform,user,token\nstore_a,Zoë,1\n', 'utf16le');
    const row = { line: 2, raw: { platform: 'store_a', user: 'Zoë', token: '1' } };
    expect(await read(content)).toEqual([row]);
    expect(await read(Buffer.from(content).swap16())).toEqual([row]);
    for (const bytes of [content, Buffer.from('\ufeffa\nZoë\nb'), Buffer.from('a\n\nb\n')]) {
      const path = join(folder, 'lines.csv');
      await writeFile(path, bytes);
      let end = 0;
      for await (const { endByte } of readLines(path)) end = endByte;
      expect(end).toBe(bytes.length);
    }
  });

  it('rejects a file that is not UTF-8, too long a line and an unknown ending', async () => {
    await expect(read(Buffer.from([0x70, 0x0a, 0xff, 0xfe]))).rejects.toThrow(/not UTF-8/);
    await expect(read(`platform\n${'x'.repeat(5_000_000)}`)).rejects.toThrow(/^Line 2 of .+ is too long/);
    expect(() => getFileFormat('purchases.xlsx')).toThrow(/must end with .csv/);
  });
});
