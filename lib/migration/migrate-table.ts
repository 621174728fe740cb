import pMap from 'p-map';
import * as v from 'valibot';
import { listAppNames } from '../apps/app-list-table.ts';
import { tableVersionKey } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { tableVersion } from '../foundation/table-version.ts';
import { buildUpdate } from '../foundation/updates.ts';
import { scanIdPages } from '../purchases/app-item-table.ts';
import { moveEarlierPayers } from '../purchases/payer-table.ts';
import { findTableVersion, requireConvertible } from './find-table-version.ts';

interface MigrationResult {
  readonly from: number;
  /** Number of customers that this run has read. */
  readonly checked: number;
  /** Number of these with items of an earlier version. */
  readonly converted: number;
}

/** Number of customers that are converted concurrently. */
const concurrency = 25;

/** Customers between two stored positions. An interrupted run repeats at most so many. */
const pageSize = 1_000;

/** The last customer that an interrupted run has converted. Apps and customers are converted in the order of lists. */
const Progress = v.object({ appName: v.exactOptional(v.string()), position: v.exactOptional(v.string()) });

/**
 * Converts the table to the version of this release, while functions of this release use it. A repeated call continues
 * an interrupted one. Throws `DatabaseError` for a version that this release cannot convert.
 */
export async function migrateTable(service: Service, reportProgress?: ReportProgress): Promise<MigrationResult> {
  const { version: from, isMarked } = await findTableVersion(service);
  requireConvertible(from);
  let [checked, converted] = [0, 0];
  if (from < tableVersion) {
    const done = parse(Progress, (await service.table.get(tableVersionKey())) ?? {}, 'DatabaseError');
    for (const appName of await listAppNames(service)) {
      if (appName < (done.appName ?? '')) continue;
      const after = appName === done.appName ? done.position : undefined;
      for await (const { ids, position } of scanIdPages(service, appName, 'customers', { after, pageSize })) {
        const moved = await pMap(ids, async (username) => await moveEarlierPayers(service, appName, username), {
          concurrency,
        });
        checked += ids.length;
        converted += moved.filter(Boolean).length;
        reportProgress?.(checked);
        await storeVersion(service, from, { appName, position });
      }
    }
  }
  if (from < tableVersion || !isMarked)
    await storeVersion(service, tableVersion, { appName: undefined, position: undefined });
  return { from, checked, converted };
}

/** Throws `Conflict` if a concurrent run has stored a later version. */
async function storeVersion({ table }: Service, version: number, progress: object): Promise<void> {
  const condition = { expression: 'attribute_not_exists(pk) OR version <= :v', values: { ':v': version } };
  await table.update(buildUpdate(tableVersionKey(), { version, ...progress }, condition));
}
