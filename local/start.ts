import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Before any other import: loading the program takes up to a second.
console.log('Starting Claimcheck. Press Ctrl-C to stop.');
const { findBuild } = await import('./build-cache.ts');
const program = join(findBuild('service'), 'program', 'run-service.mjs');
// The first start builds the program for the next ones, which load it in a third of the time.
if (existsSync(program)) await import(pathToFileURL(program).href);
else await import('./run-service.ts');
