import { createHash } from 'node:crypto';
import { toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { StoredOperations, StoredResults } from '../foundation/stored-operations.ts';
import type { Table } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { createRunOnce } from './idempotency.ts';

export function selectOperations({ table, now }: Service, appName: string, platform: Platform): StoredOperations {
  return {
    runOnce: createRunOnce(table, { appName, platform, now }),
    storedResults: createStoredResults(table, { appName, platform, now }),
  };
}

const retentionMs = 7 * dayMs;

/** Creates the results for one platform of an app. */
function createStoredResults(
  table: Table,
  { appName, platform, now }: { appName: string; platform: string; now: () => EpochMillis },
): StoredResults {
  const toKey = (key: string) =>
    keys.storedResultKey(appName, platform, createHash('sha256').update(key).digest('hex'));
  return {
    async find(key) {
      const item = await table.get(toKey(key));
      return typeof item?.result === 'string' ? JSON.parse(item.result) : undefined;
    },
    async save(key, result) {
      const ttl = toTtl(now() + retentionMs);
      await table.batchPut([{ ...toKey(key), ttl, result: JSON.stringify(result) }]);
    },
  };
}
