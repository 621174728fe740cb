import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { StoredOperations } from '../foundation/stored-operations.ts';
import { createRunOnce } from './idempotency.ts';
import { createStoredResults } from './stored-results.ts';

export function selectOperations({ table, now }: Service, appName: string, platform: Platform): StoredOperations {
  return {
    runOnce: createRunOnce(table, { appName, platform, now }),
    storedResults: createStoredResults(table, { appName, platform, now }),
  };
}
