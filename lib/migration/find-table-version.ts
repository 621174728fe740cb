import pMap from 'p-map';
import { listAppNames } from '../apps/app-list-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import { minTableVersion, readTableVersion, tableVersion } from '../foundation/table-version.ts';

/** The version of the stored data. */
export interface TableState {
  readonly version: number;
  /** Without the item of the version, the version is derived from other items. */
  readonly isMarked: boolean;
}

/** Number of apps that are read concurrently. */
const concurrency = 10;

/**
 * Finds the version of the table. Without its item, a table without apps has the version of this release, a table with
 * an item that only version 1 wrote has version 1, and any other one `minTableVersion`: its migration can do nothing.
 */
export async function findTableVersion(service: Service): Promise<TableState> {
  const marked = await readTableVersion(service.table);
  if (marked !== undefined) return { version: marked, isMarked: true };
  const appNames = await listAppNames(service);
  const first = await pMap(appNames, async (appName) => await isFirstVersion(service, appName), { concurrency });
  const version = appNames.length === 0 ? tableVersion : first.includes(true) ? 1 : minTableVersion;
  return { version, isMarked: false };
}

/** Throws `DatabaseError` for a version that this release can neither use nor convert. */
export function requireConvertible(version: number): void {
  if (version > tableVersion)
    throw new ServiceError(
      'DatabaseError',
      `The table has version ${version}, and this release writes version ${tableVersion}. Use the release that wrote it.`,
    );
  if (version < minTableVersion)
    throw new ServiceError(
      'DatabaseError',
      `The table has version ${version}, which this release cannot convert: its lists would be empty and its statistics zero. Export its purchases with the release that wrote it, and import them into a new table.`,
    );
}

/** The app has a purchase in a list without shards, or a catalogue among its settings. */
async function isFirstVersion({ table }: Service, appName: string): Promise<boolean> {
  const [purchases, catalogue] = await Promise.all([
    table.query({ partition: `${appName}#P`, index: 'byCreated', limit: 1 }),
    table.get({ pk: keys.appKey(appName).pk, sk: 'CATALOGUE' }),
  ]);
  return purchases.length > 0 || catalogue !== undefined;
}
