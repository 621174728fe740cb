import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import * as v from 'valibot';
import type { BenchResult } from './bench-result.ts';

const resultsFolder = new URL('results/', import.meta.url);

/** The generated page with all tables. */
export const resultsPage = 'bench/results/README.md';

/** The documents that quote results. */
export const quotingPages: readonly string[] = ['docs/performance.md', 'docs/guides/run-for-production.md'];

const Row = v.record(v.string(), v.union([v.string(), v.number()]));
const BenchFile = v.object({
  machine: v.record(v.string(), v.union([v.string(), v.number()])),
  tables: v.array(v.object({ id: v.optional(v.string()), title: v.string(), rows: v.array(Row) })),
});
export type BenchFile = v.InferOutput<typeof BenchFile>;
type Rows = BenchFile['tables'][number]['rows'];

const quotedPackages = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', 'esbuild', 'aws-cdk-lib'] as const;
const Package = v.object({
  dependencies: v.record(v.string(), v.string()),
  devDependencies: v.record(v.string(), v.string()),
});

/** Describes the machine and the code of a run. Contains no name of a host, user or folder. */
async function describeMachine(): Promise<BenchFile['machine']> {
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

/** Writes bench/results/<name>.json and the page of all tables, and updates the tables of the documents. */
export async function saveResults(name: string, tables: readonly BenchResult[]): Promise<void> {
  await mkdir(resultsFolder, { recursive: true });
  const content = JSON.stringify({ machine: await describeMachine(), tables }, undefined, 2);
  await writeFile(new URL(`${name}.json`, resultsFolder), `${content}\n`);
  const results = await readResults();
  await writeFile(new URL(`../${resultsPage}`, import.meta.url), renderResultsPage(results));
  for (const page of quotingPages) {
    const file = new URL(`../${page}`, import.meta.url);
    await writeFile(file, insertTables(await readFile(file, 'utf8'), results));
  }
}

/** Reads all results by the name of the bench. */
export async function readResults(): Promise<ReadonlyMap<string, BenchFile>> {
  const files = (await readdir(resultsFolder)).filter((file) => file.endsWith('.json'));
  const parse = v.parser(v.pipe(v.string(), v.parseJson(), BenchFile));
  return new Map(
    await Promise.all(
      files.map(async (file) => {
        const result = parse(await readFile(new URL(file, resultsFolder), 'utf8'));
        return [file.replace(/\.json$/, ''), result] as const;
      }),
    ),
  );
}

/** Renders the page of all tables of the latest runs. Omits `cost_before`, which no bench writes. */
export function renderResultsPage(results: ReadonlyMap<string, BenchFile>): string {
  const sections = [...results]
    .filter(([bench]) => bench !== 'cost_before')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([bench, { machine, tables }]) => [
      `## ${bench}`,
      `\`npm run bench -- ${bench} --save\` writes this section. ${formatMachine(machine)}`,
      ...tables.flatMap(({ title, rows }) => [`### ${title}`, formatTable(rows)]),
    ]);
  const introduction = [
    '# Results',
    'All tables of the latest runs, generated. [The benches](../README.md) describes the methods.',
  ];
  return `${[...introduction, ...sections].join('\n\n')}\n`;
}

/** `results` or `machine`, the bench, the table, its columns, and a column with the value that selects rows. */
const marker =
  /(<!-- (results|machine): (\w+)(?: (\w+))?(?: \[([^\]]+)\])?(?: (\w+)=(\w+))? -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * Replaces the text between `<!-- results: <bench> <table> -->` and `<!-- end -->` by the table of the results, and
 * between `<!-- machine: <bench> -->` and `<!-- end -->` by its machine. `[<column> | <column>]` after the table
 * selects columns, and `<column>=<value>` rows. Names the command of a bench without results. Throws if results lack
 * the table, a column or all rows.
 */
export function insertTables(page: string, results: ReadonlyMap<string, BenchFile>): string {
  return page.replace(marker, (_text, ...groups: string[]) => {
    const [start, kind, bench = '', id, columns, filter = '', value, end] = groups;
    const result = results.get(bench);
    if (!result) return `${start}\nNot measured yet: \`npm run bench -- ${bench} --save\`.\n\n${end}`;
    const { machine, tables } = result;
    if (kind === 'machine') return `${start}\n${formatMachine(machine)}\n\n${end}`;
    const table = tables.find((candidate) => candidate.id === id);
    if (!table) throw new Error(`bench/results/${bench}.json has no table ${id}.`);
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

const formatMachine = (machine: BenchFile['machine']): string =>
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
