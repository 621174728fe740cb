import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  type BenchFile,
  formatTable,
  insertTables,
  quotingPages,
  readResults,
  renderResultsPage,
  resultsPage,
} from '../../bench/results.ts';

const file: BenchFile = {
  machine: { cores: 2, memoryGb: 8, node: '24.0.0', date: '2026-06-01', commit: 'abc' },
  tables: [{ id: 'totals', title: 'Totals', rows: [{ name: 'a', value: 1 }] }],
};
const results = new Map([['cost', file]]);

describe('insertTables', () => {
  it('replaces the text between the markers by the table', () => {
    const page = 'Before\n<!-- results: cost totals -->\nold\n<!-- end -->\nAfter';
    const updated = insertTables(page, results);
    expect(updated).toContain('Totals:\n\n| name | value |');
    expect(updated).not.toContain('old');
    expect(insertTables(updated, results)).toBe(updated);
  });

  it('names the command of a bench without results', () => {
    const page = '<!-- results: start all -->\nold\n<!-- end -->';
    expect(insertTables(page, results)).toContain('`npm run bench -- start --save`');
  });

  it('throws for a table that the results lack', () => {
    expect(() => insertTables('<!-- results: cost other -->\n<!-- end -->', results)).toThrow('other');
  });

  const rows = [
    { name: 'a', load: 'quiet', value: 1 },
    { name: 'b', load: 'steady', value: 2 },
  ];
  const wide = new Map([['cost', { ...file, tables: [{ id: 'totals', title: 'Totals', rows }] }]]);
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

describe(resultsPage, () => {
  it('contains all tables of bench/results', async () => {
    expect(readFileSync(resultsPage, 'utf8')).toBe(renderResultsPage(await readResults()));
  });
});

describe.each(quotingPages)('%s', (file) => {
  it('quotes the tables of bench/results', async () => {
    const page = readFileSync(file, 'utf8');
    expect(insertTables(page, await readResults())).toBe(page);
  });

  it('names the command of each table before it', () => {
    const page = readFileSync(file, 'utf8');
    const tables = [...page.matchAll(/<!-- results: (\w+) \w+.* -->/g)];
    expect(tables.length).toBeGreaterThan(0);
    for (const { 1: bench = '', index } of tables)
      expect(page.slice(0, index)).toMatch(new RegExp(`\`npm run bench (?:-- )?${bench}\\b`));
  });
});

describe('bench/results', () => {
  it('name the machine without its host, user or folders', async () => {
    for (const { machine } of (await readResults()).values()) {
      expect(Object.keys(machine).sort()).toEqual(
        expect.arrayContaining(['commit', 'cores', 'date', 'memoryGb', 'node']),
      );
      expect(JSON.stringify(machine)).not.toMatch(/\/(home|work|root|tmp|Users)\b/);
    }
  });
});
