import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import * as v from 'valibot';
import type { BenchResult } from './bench-result.ts';

/** The documents that quote tables of benches. */
export const quotingPages: readonly string[] = ['docs/performance.md', 'docs/guides/run-for-production.md'];

/** What one run of a bench has measured. */
export interface BenchRun {
  readonly bench: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly tables: readonly BenchResult[];
}
type Rows = BenchResult['rows'];

const quotedPackages = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', 'esbuild', 'aws-cdk-lib'] as const;
const Package = v.object({
  dependencies: v.record(v.string(), v.string()),
  devDependencies: v.record(v.string(), v.string()),
});

/** Describes the machine and the code of a run. Contains no name of a host, user or folder. */
async function describeMachine(): Promise<BenchRun['machine']> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const { dependencies, devDependencies } = v.parse(v.pipe(v.string(), v.parseJson(), Package), text);
  const versions: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies };
  return {
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim(),
    ...Object.fromEntries(quotedPackages.map((name) => [name, versions[name] ?? ''])),
  };
}

/** Replaces the tables that documents quote from a bench by the tables of this run. */
export async function saveTables(bench: string, tables: readonly BenchResult[]): Promise<void> {
  const run = { bench, machine: await describeMachine(), tables };
  for (const page of quotingPages) {
    const file = new URL(`../${page}`, import.meta.url);
    await writeFile(file, insertTables(await readFile(file, 'utf8'), run));
  }
}

/** `results` or `machine`, the bench, the table, its columns, and a column with the value that selects rows. */
const marker =
  /(<!-- (results|machine): (\w+)(?: (\w+))?(?: \[([^\]]+)\])?(?: (\w+)=(\w+))? -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * Replaces the text between `<!-- results: <bench> <table> -->` and `<!-- end -->` by the table of the run, and between
 * `<!-- machine: <bench> -->` and `<!-- end -->` by its machine. `[<column> | <column>]` after the table selects
 * columns, and `<column>=<value>` rows. Keeps the text of other benches. Throws if the run lacks the table, a column or
 * all rows.
 */
export function insertTables(page: string, { bench, machine, tables }: BenchRun): string {
  return page.replace(marker, (text, ...groups: string[]) => {
    const [start, kind, quoted, id, columns, filter = '', value, end] = groups;
    if (quoted !== bench) return text;
    if (kind === 'machine') return `${start}\n${formatMachine(machine)}\n\n${end}`;
    const table = tables.find((candidate) => candidate.id === id);
    if (!table) throw new Error(`The bench ${bench} has no table ${id}.`);
    const selected = value === undefined ? table.rows : table.rows.filter((row) => row[filter] === value);
    if (selected.length === 0) throw new Error(`The table ${id} of ${bench} has no row with ${filter} ${value}.`);
    const rows = columns === undefined ? selected : pickColumns(selected, columns.split(' | '));
    return `${start}\n${table.title}:\n\n${formatTable(rows)}\n\n${end}`;
  });
}

/** Throws if no row has a column. Operations without a target lack the column of the target. */
function pickColumns(rows: Rows, columns: readonly string[]): Rows {
  for (const column of columns)
    if (!rows.some((row) => column in row)) throw new Error(`The results have no column ${column}.`);
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? ''])));
}

const formatMachine = (machine: BenchRun['machine']): string =>
  `Run on ${machine.date} at ${machine.commit}: ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, ${quotedPackages
    .map((name) => `${name} ${machine[name]}`)
    .join(', ')}.`;

/** Formats rows as a Markdown table with aligned columns. */
export function formatTable(rows: Rows): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const isNumeric = names.map((name) => rows.every((row) => typeof row[name] === 'number' || row[name] === ''));
  const widths = names.map((_name, column) => Math.max(3, ...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line.map((cell, column) =>
      isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    ),
  );
  const rule = widths.map((width, column) => `${'-'.repeat(width - 1)}${isNumeric[column] ? ':' : '-'}`);
  const [header = [], ...body] = lines;
  return [header, rule, ...body].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
