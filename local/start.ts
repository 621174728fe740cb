import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Before any other import: loading the program takes up to a second.
console.log('Starting Claimcheck. Press Ctrl-C to stop.');
await assertEngineInstalled();
const { findBuild } = await import('./build-cache.ts');
const program = join(findBuild('service'), 'program', 'run-service.mjs');
// The first start builds the program for the next ones, which load it in a third of the time.
if (existsSync(program)) await import(pathToFileURL(program).href);
else await import('./run-service.ts');

/** Ends the process if there is no table engine: loading the program, and the first build, take seconds. */
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
