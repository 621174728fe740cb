import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './bench-result.ts';
import { benchPages } from './pages.ts';
import { benchStartTimes } from './start-times.ts';
import { benchTableUnits } from './table-units.ts';
import { benchVerifyStoreA } from './verify-store-a.ts';
import { benchWebhooks } from './webhooks.ts';

const benches: Readonly<Record<string, () => Promise<BenchResult | readonly BenchResult[]>>> = {
  start: benchStartTimes,
  pages: benchPages,
  units: benchTableUnits,
  verify: benchVerifyStoreA,
  webhooks: benchWebhooks,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`There is no bench named ${unknown.join(', ')}, only ${Object.keys(benches).join(', ')}.`);
  process.exit(1);
}
const names = Object.keys(benches).filter((name) => chosen.length === 0 || chosen.includes(name));
const [only] = names;
if (only !== undefined && names.length === 1) {
  for (const { title, rows } of [(await benches[only]?.()) ?? []].flat()) {
    console.log(`\n${title}`);
    console.table(rows);
  }
} else {
  // Each in a process of its own: the service is built once in a process, for one table.
  for (const name of names) {
    const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = 1;
  }
}
process.exit();
