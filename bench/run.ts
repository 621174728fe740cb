import '../lib/foundation/disable-node-version-warning.ts';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BenchResult } from './bench-result.ts';
import { checkNames } from './budgets.ts';
import { checkBudgets } from './check.ts';
import { benchConsole } from './console.ts';
import { benchCost } from './cost.ts';
import { benchCredits } from './credits.ts';
import { benchCustomers } from './customers.ts';
import { benchFigures } from './figures.ts';
import { benchFlood } from './flood.ts';
import { benchInvocations } from './invocations.ts';
import { benchLoad } from './load.ts';
import { benchLocal } from './local.ts';
import { describeSpeed, measureMachineSpeed } from './machine-speed.ts';
import { benchMemory } from './memory.ts';
import { benchPages } from './pages.ts';
import { saveTables } from './results.ts';
import { benchScale } from './scale.ts';
import { benchStartTimes } from './start-times.ts';
import { benchTableUnits } from './table-units.ts';

const benches: Readonly<Record<string, () => Promise<BenchResult | readonly BenchResult[]>>> = {
  console: benchConsole,
  cost: benchCost,
  credits: benchCredits,
  customers: benchCustomers,
  figures: benchFigures,
  flood: benchFlood,
  invocations: benchInvocations,
  load: async () => {
    const { PORT: port } = process.env;
    return await benchLoad({ minutes: Number(values.minutes), ...(port !== undefined && { port: Number(port) }) });
  },
  local: benchLocal,
  memory: benchMemory,
  pages: benchPages,
  scale: benchScale,
  start: benchStartTimes,
  units: benchTableUnits,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'boolean', default: false },
    /** Compares units, costs and starts with the targets instead of the reached figures. */
    targets: { type: 'boolean', default: false },
    /** Writes the tables that documents quote. */
    save: { type: 'boolean', default: false },
    /** Duration of the steady rate of `load`. */
    minutes: { type: 'string', default: '2' },
  },
});
if (values.check) await runChecks();
else if (positionals.length === 1) await runBench(positionals[0] ?? '');
else runEachBench();
process.exit();

/** Compares measurements with the budgets. The last line is a sentence with the figures. */
async function runChecks(): Promise<void> {
  requireNames(positionals, checkNames);
  const checks = checkNames.filter((name) => positionals.length === 0 || positionals.includes(name));
  console.log(describeSpeed(await measureMachineSpeed()));
  const { table, areAllMet, summary } = await checkBudgets(checks, values.targets ? 'targets' : 'limits');
  printTable(table);
  console.log(`\n${summary}`);
  if (!areAllMet) process.exitCode = 1;
}

async function runBench(name: string): Promise<void> {
  requireNames([name], Object.keys(benches));
  console.log(describeSpeed(await measureMachineSpeed()));
  const tables = [(await benches[name]?.()) ?? []].flat();
  for (const table of tables) printTable(table);
  if (values.save) await saveTables(name, tables);
}

/** Runs each bench in its own process: a process creates the dependencies once, for one table. */
function runEachBench(): void {
  requireNames(positionals, Object.keys(benches));
  const names = Object.keys(benches).filter((name) => positionals.length === 0 || positionals.includes(name));
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
  for (const name of names) {
    const program = [...process.execArgv, fileURLToPath(import.meta.url), name, ...options];
    const { status } = spawnSync(process.execPath, program, { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  }
}

function requireNames(names: readonly string[], known: readonly string[]): void {
  const unknownNames = names.filter((name) => !known.includes(name));
  if (unknownNames.length === 0) return;
  console.error(`Unknown name: ${unknownNames.join(', ')}. Pass ${known.join(', ')}.`);
  process.exit(1);
}

function printTable({ title, rows }: BenchResult): void {
  console.log(`\n${title}`);
  console.table(rows);
}
