import { startTableEngine } from '../local/table-engine/start-table-engine.ts';
import type { TableEngineOptions } from '../local/table-engine/table-engine.ts';
import { createRunKeys } from '../testing/run-keys.ts';
import type { TestService } from '../testing/service.ts';
import { median } from './median.ts';

/** Runs `use` with the endpoint of a new table engine, and with keys of the emulated stores. */
export async function withTableEngine<T>(
  use: (endpoint: string) => Promise<T>,
  options?: TableEngineOptions,
): Promise<T> {
  const deleteRunKeys = await createRunKeys();
  const engine = await startTableEngine(options);
  try {
    return await use(engine.endpoint);
  } finally {
    await engine.close();
    await deleteRunKeys();
  }
}

/**
 * Runs `use` with the handlers on the table engine of the endpoint, and with the emulated stores. Restores
 * `DYNAMODB_ENDPOINT`: a later table engine would be the one of this endpoint.
 */
export async function withServiceOn<T>(endpoint: string, use: (service: TestService) => Promise<T>): Promise<T> {
  const { DYNAMODB_ENDPOINT } = process.env;
  process.env.DYNAMODB_ENDPOINT = endpoint;
  try {
    const { startTestService } = await import('../testing/service.ts');
    const service = await startTestService();
    try {
      return await use(service);
    } finally {
      await service.close();
    }
  } finally {
    if (DYNAMODB_ENDPOINT === undefined) delete process.env.DYNAMODB_ENDPOINT;
    else process.env.DYNAMODB_ENDPOINT = DYNAMODB_ENDPOINT;
  }
}

/** Runs `use` with the handlers on a new table engine, and with the emulated stores. */
export const withTestService = async <T>(use: (service: TestService) => Promise<T>): Promise<T> =>
  await withTableEngine(async (endpoint) => await withServiceOn(endpoint, use));

/** Calls `run` once to fill caches, then `runs` times. Returns the units of one call and the median time. */
export async function measureCalls<T>(run: () => Promise<T>, runs: number) {
  const { getService } = await import('../lib/foundation/get-service.ts');
  let result = await run();
  const before = { ...getService().table.consumed };
  const timesMs: number[] = [];
  for (let time = 0; time < runs; time++) {
    const startedAt = performance.now();
    result = await run();
    timesMs.push(performance.now() - startedAt);
  }
  const after = getService().table.consumed;
  return {
    result,
    'read units': (after.read - before.read) / runs,
    'write units': (after.write - before.write) / runs,
    'median ms': Math.round(median(timesMs)),
  };
}
