import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Before any other import: loading the program takes up to a second.
console.log('Starting Claimcheck. Press Ctrl-C to stop.');
await assertEngineInstalled();
const { ensureBuild } = await import('./build-cache.ts');
const programs = await ensureBuild('programs', async (folder) => {
  const { runBuild } = await import('./run-build.ts');
  await runBuild('--import', 'tsx', fileURLToPath(new URL('./build-programs.ts', import.meta.url)), folder);
});
const program = join(programs, 'run-service.mjs');
// The TypeScript loader takes twice the processor time of the build and the program.
if (existsSync(program)) await import(pathToFileURL(program).href);
else await import('./run-service.ts');

/** Ends the process without a table engine: loading the program, and the first build, take seconds. */
async function assertEngineInstalled(): Promise<void> {
  const engines = await import('./table-engine/start-table-engine.ts');
  const { isStartupError } = await import('./startup-error.ts');
  try {
    engines.assertEngineInstalled();
  } catch (error) {
    console.error(isStartupError(error) ? error.message : error);
    process.exit(1);
  }
}
