import type { Table } from '../foundation/table.ts';
import type { OperationRepository } from '../shared/stored-operations.ts';
import type { EpochMillis } from '../shared/time.ts';
import { createRunOnce } from './idempotency.ts';
import { createStoredResults } from './stored-results.ts';

export const createOperationRepository = (table: Table, now: () => EpochMillis): OperationRepository => ({
  select: (appName, platform) => ({
    runOnce: createRunOnce(table, { appName, platform, now }),
    storedResults: createStoredResults(table, { appName, platform, now }),
  }),
});
