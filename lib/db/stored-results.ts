import { createHash } from 'node:crypto';
import type { StoredResults } from '../shared/stored-operations.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

const retentionMs = 7 * dayMs;

/** Creates the results for one platform of an app. */
export function createStoredResults(
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
      const ttl = keys.toTtl(now() + retentionMs);
      await table.batchPut([{ ...toKey(key), ttl, result: JSON.stringify(result) }]);
    },
  };
}
