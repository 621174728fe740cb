import * as v from 'valibot';
import { ServiceError } from './errors.ts';
import { appIndexKeys, tableVersionKey } from './keys.ts';
import { parse } from './parse.ts';
import type { Table } from './table.ts';
import { buildUpdate, tryUpdate } from './updates.ts';

/**
 * Version of the stored data that this release writes. docs/decisions/table.md has the history,
 * and the changes that need another version.
 */
export const tableVersion = 3;

/** The earliest version that this release reads and writes. `claimcheck table migrate` converts it. */
export const minTableVersion = 2;

const VersionItem = v.object({ version: v.number() });

/** Returns the version of the stored data. Undefined for a table that is empty, or from before versions. */
export async function readTableVersion(table: Table): Promise<number | undefined> {
  const item = await table.get(tableVersionKey());
  return item && parse(VersionItem, item, 'DatabaseError').version;
}

/** Stores the version of a table without apps, before its first app. */
export async function markEmptyTable(table: Table): Promise<void> {
  if ((await readTableVersion(table)) !== undefined) return;
  const apps = await table.query({ partition: appIndexKeys.partition(), index: 'byCreated', limit: 1 });
  if (apps.length > 0) return;
  const condition = { expression: 'attribute_not_exists(pk)' };
  await tryUpdate(table, buildUpdate(tableVersionKey(), { version: tableVersion }, condition));
}

/** Throws if this release cannot read a table of this version. */
function requireReadableVersion(version: number): void {
  if (version < minTableVersion)
    throw unusableError(
      `The table has version ${version}, and this release reads version ${minTableVersion} and later.`,
    );
}

/** Throws if this release must not write to a table of this version. */
function requireWritableVersion(version: number): void {
  requireReadableVersion(version);
  if (version > tableVersion)
    throw unusableError(
      `The table has version ${version}, and this release writes version ${tableVersion}. Deploy the newer release.`,
    );
}

/** Retryable: queues and streams keep their messages until a release that fits is deployed. */
const unusableError = (cause: string): ServiceError =>
  new ServiceError('DatabaseError', 'The data of the service has another version. Try again later.', { cause });

/**
 * Returns the table with a check of its version, which the first call reads: a read concurrently, a write before it.
 * Throws `DatabaseError` for reads of an older version than `minTableVersion`, and for writes of a newer version.
 */
export function guardVersion(table: Table): Table {
  let version: Promise<number> | undefined;
  const findVersion = async (): Promise<number> => {
    version ??= readTableVersion(table).then((stored = tableVersion) => stored);
    return await version.catch((error: unknown) => {
      version = undefined;
      throw error;
    });
  };
  const checked =
    <A extends unknown[], R>(read: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const [result] = await Promise.all([read(...args), findVersion().then(requireReadableVersion)]);
      return result;
    };
  const guarded =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      requireWritableVersion(await findVersion());
      return await write(...args);
    };
  return {
    ...table,
    get: checked(table.get),
    query: checked(table.query),
    batchGet: checked(table.batchGet),
    batchPut: guarded(table.batchPut),
    batchDelete: guarded(table.batchDelete),
    update: guarded(table.update),
    delete: guarded(table.delete),
    transact: guarded(table.transact),
  };
}
