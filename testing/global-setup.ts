import { randomInt } from 'node:crypto';
import '../lib/foundation/disable-node-version-warning.ts';
import { startTableEngine } from '../local/table-engine/start-table-engine.ts';
import type { TableEngine } from '../local/table-engine/table-engine.ts';
import { createRunKeys } from './run-keys.ts';

declare global {
  var tableEngine: TableEngine | undefined;
  var deleteRunKeys: (() => Promise<void>) | undefined;
}

/**
 * Chooses the keys and the seed of the run and starts one table engine in memory for the tables without a stream. Tests
 * find its address in `TEST_DYNAMODB_ENDPOINT`. A local service starts its own: stream records of other tables slow
 * down every call to DynamoDB Local, which does not index them.
 */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function setUp(): Promise<void> {
  globalThis.tableEngine = await startTableEngine();
  process.env.TEST_DYNAMODB_ENDPOINT = globalThis.tableEngine.endpoint;
  // Responses of the emulated stores on a busy machine must not exceed the time limits of store calls.
  process.env.STORE_TIME_FACTOR ??= '20';
  globalThis.deleteRunKeys = await createRunKeys();
  chooseSeed();
}

/** Prints the seed of the random samples, so that a failed run can be repeated. */
function chooseSeed(): void {
  process.env.SEED ??= String(randomInt(2 ** 31));
  console.log(`Random samples: SEED=${process.env.SEED}${process.env.FULL === '1' ? ' FULL=1' : ''}`);
}
