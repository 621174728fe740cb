import type { BenchTable } from './bench-table.ts';
import { benchPages } from './pages.ts';
import { benchStartTimes } from './start-times.ts';
import { benchTableUnits } from './table-units.ts';
import { benchVerifyStoreA } from './verify-store-a.ts';
import { benchWebhooks } from './webhooks.ts';

const benches: Readonly<Record<string, () => Promise<BenchTable>>> = {
  start: benchStartTimes,
  pages: benchPages,
  units: benchTableUnits,
  verify: benchVerifyStoreA,
  webhooks: benchWebhooks,
};

const chosen = process.argv.slice(2);
for (const [name, run] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const { title, rows } = await run();
  console.log(`\n${title}`);
  console.table(rows);
}
process.exit(0);
