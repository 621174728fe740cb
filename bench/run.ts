import '../lib/shared/disable-node-version-warning.ts';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './bench-result.ts';
import { benchCustomers } from './customers.ts';
import { benchFlood } from './flood.ts';
import { benchPages } from './pages.ts';
import { benchStartTimes } from './start-times.ts';
import { benchTableUnits } from './table-units.ts';
import { benchVerifyStoreA } from './verify-store-a.ts';
import { benchWebhooks } from './webhooks.ts';

const benches: Readonly<Record<string, () => Promise<BenchResult | readonly BenchResult[]>>> = {
  customers: benchCustomers,
  flood: benchFlood,
  start: benchStartTimes,
  pages: benchPages,
  units: benchTableUnits,
  verify: benchVerifyStoreA,
  webhooks: benchWebhooks,
};

const requestedNames = process.argv.slice(2);
const unknownNames = requestedNames.filter((name) => !Object.hasOwn(benches, name));
if (unknownNames.length > 0) {
  console.error(`Unknown bench: ${unknownNames.join(', ')}. Pass ${Object.keys(benches).join(', ')}.`);
  process.exit(1);
}
const names = Object.keys(benches).filter((name) => requestedNames.length === 0 || requestedNames.includes(name));
const [firstName] = names;
if (firstName !== undefined && names.length === 1) {
  for (const { title, rows } of [(await benches[firstName]?.()) ?? []].flat()) {
    console.log(`\n${title}`);
    console.table(rows);
  }
} else {
  // One process per bench: a process creates the dependencies once, for one table.
  for (const name of names) {
    const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = 1;
  }
}
process.exit();
