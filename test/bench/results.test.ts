import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type BenchRun, formatTable, insertTables, quotingPages } from '../../bench/results.ts';

const run: BenchRun = {
  bench: 'cost',
  machine: { cores: 2, memoryGb: 8, node: '24.0.0', date: '2026-06-01', commit: 'abc' },
  tables: [{ id: 'totals', title: 'Totals', rows: [{ name: 'a', value: 1 }] }],
};

/** Reads the rows of a Markdown table. */
function readRows(table: string): Record<string, string | number>[] {
  const [header = [], , ...rows] = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.map((cells) =>
    Object.fromEntries(
      header.map((name, column) => {
        const cell = cells[column] ?? '';
        return [name, /^-?[\d.]+$/.test(cell) ? Number(cell) : cell];
      }),
    ),
  );
}

describe('insertTables', () => {
  it('replaces the text between the markers by the table', () => {
    const page = 'Before\n<!-- results: cost totals -->\nold\n<!-- end -->\nAfter';
    const updated = insertTables(page, run);
    expect(updated).toContain('Totals:\n\n| name | value |');
    expect(updated).not.toContain('old');
    expect(insertTables(updated, run)).toBe(updated);
  });

  it('replaces the text of a machine', () => {
    const page = insertTables('<!-- machine: cost -->\nold\n<!-- end -->', run);
    expect(page).toContain('Run on 2026-06-01 at abc: 2 cores, 8 GB');
    expect(page).not.toContain('old');
  });

  it('keeps the tables of other benches', () => {
    const page = '<!-- results: start all -->\nold\n<!-- end -->\n<!-- machine: start -->\nold\n<!-- end -->';
    expect(insertTables(page, run)).toBe(page);
  });

  it('throws for a table that the run lacks', () => {
    expect(() => insertTables('<!-- results: cost other -->\n<!-- end -->', run)).toThrow('other');
  });

  const rows = [
    { name: 'a', load: 'quiet', value: 1 },
    { name: 'b', load: 'steady', value: 2 },
  ];
  const wide = { ...run, tables: [{ id: 'totals', title: 'Totals', rows }] };
  const insert = (selection: string) => insertTables(`<!-- results: cost totals ${selection} -->\n<!-- end -->`, wide);

  it('selects columns and rows', () => {
    expect(insert('[name | value]')).toContain('| name | value |');
    expect(insert('[name | value] load=steady')).toContain('| ----: |\n| b    |     2 |\n\n<!--');
  });

  it('throws for a selection of a missing column, or of no row', () => {
    expect(() => insert('[name | price]')).toThrow('price');
    expect(() => insert('load=other')).toThrow('other');
  });
});

describe('formatTable', () => {
  it('aligns numbers to the right and text to the left', () => {
    expect(
      formatTable([
        { name: 'a', ms: 5 },
        { name: 'long', ms: 1234 },
      ]),
    ).toBe(['| name |   ms |', '| ---- | ---: |', '| a    |    5 |', '| long | 1234 |'].join('\n'));
  });
});

describe.each(quotingPages)('%s', (file) => {
  const page = readFileSync(file, 'utf8');
  const quotes = [...page.matchAll(/<!-- results: (\w+) (\w+).* -->\n\n(.+):\n\n([\s\S]+?)\n\n<!-- end -->/g)].map(
    ([, bench = '', id = '', title = '', table = '']) => ({ bench, tables: [{ id, title, rows: readRows(table) }] }),
  );

  it('contains the columns, the title and the format that npm run bench -- --save writes', () => {
    expect(quotes.length).toBe(page.match(/<!-- results: /g)?.length);
    // A quoted table, inserted again, has the columns of its marker.
    for (const { bench, tables } of quotes) {
      const run = { bench, machine: {}, tables };
      const [marked = ''] =
        new RegExp(`<!-- results: ${bench} ${tables[0]?.id}[\\s\\S]*?<!-- end -->`).exec(page) ?? [];
      expect(insertTables(marked.replace(/ load=\w+/, ''), run)).toBe(marked.replace(/ load=\w+/, ''));
    }
  });

  it('names the command of each table before it', () => {
    const tables = [...page.matchAll(/<!-- results: (\w+) \w+.* -->/g)];
    expect(tables.length).toBeGreaterThan(0);
    for (const { 1: bench = '', index } of tables)
      expect(page.slice(0, index)).toMatch(new RegExp(`\`npm run bench (?:-- )?${bench}\\b`));
  });

  it('names a machine without its host, user or folders', () => {
    for (const [, machine] of page.matchAll(/<!-- machine: \w+ -->\n([\s\S]*?)<!-- end -->/g)) {
      expect(machine).toMatch(/Run on \d{4}-\d\d-\d\d at \w{12}: \d+ cores, \d+ GB, Node \d/);
      expect(machine).not.toMatch(/\/(home|work|root|tmp|Users)\b/);
    }
  });
});

it('README.md has the totals of docs/performance.md', () => {
  const page = readFileSync('docs/performance.md', 'utf8');
  const [, table = ''] = /<!-- results: cost months .*\n\n.*\n\n([\s\S]+?)\n\n<!-- end -->/.exec(page) ?? [];
  const totals = Object.fromEntries(readRows(table).map(({ users, total }) => [users, Math.round(Number(total))]));
  expect(readFileSync('README.md', 'utf8')).toContain(
    `About ${totals[10_000]} dollars a month at AWS for 10,000 users, ${totals[1_000_000]} for a million and ${totals[0]} for none`,
  );
});
