import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import type { CustomerDataRepository } from '../customer-data/customer-data-repository.ts';
import { type EntitlementDeps, readEntitlements } from '../entitlements/read-entitlements.ts';
import { hasEntitlements } from '../purchases/catalogue.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { splitIntoChunks } from '../shared/batches.ts';
import { ServiceError } from '../shared/errors.ts';
import { type EpochMillis, minuteMs } from '../shared/time.ts';
import {
  toExportedCustomer,
  toExportedEntitlements,
  toExportedPurchase,
  toExportedTransaction,
} from './export-rows.ts';
import { type ExportKind, type ExportRun, type ExportState, type ExportTable, toExportPath } from './export-state.ts';
import type { ExportFile, ExportTarget } from './export-target.ts';

export interface ExportAppDeps extends EntitlementDeps {
  readonly appItems: Pick<AppItemRepository, 'scanPurchaseIds' | 'scanUsernames'>;
  readonly customerData: Pick<CustomerDataRepository, 'find'>;
  readonly purchases: Pick<PurchaseRepository, 'load'>;
}

export interface ExportAppOptions {
  readonly kind: ExportKind;
  /** Receives the number of rows of a table that are written so far. */
  readonly onProgress?: (table: ExportTable, rows: number) => void;
  /** Interrupts the export. The next one continues it. */
  readonly signal?: AbortSignal;
}

/** The files of a complete export and their numbers of rows. */
export interface ExportReport extends ExportRun {
  readonly files: readonly { readonly path: string; readonly rows: number }[];
}

interface ExportContext {
  readonly app: App;
  readonly target: ExportTarget;
  readonly deps: ExportAppDeps;
  readonly options: ExportAppOptions;
  readonly run: ExportRun;
}

/** Number of purchases or customers that are read concurrently. */
const batchSize = 25;

/** Changes of this time before an export are exported again, because the index of changes is eventually consistent. */
const overlapMs = 5 * minuteMs;

/**
 * Exports an app to a target, at least once: every row that was written before the start of an export is in its files,
 * or in an earlier export. A full export that was interrupted continues on the same day (UTC) after its last
 * complete table.
 */
export async function exportApp(
  app: App,
  target: ExportTarget,
  deps: ExportAppDeps,
  options: ExportAppOptions,
): Promise<ExportReport> {
  const state = await readOwnState(app, target);
  const since = options.kind === 'changes' ? requireLatestExport(state).startedAt - overlapMs : undefined;
  const { completeTables, ...run } = resumeOrStart(state, options.kind, deps.now());
  const context: ExportContext = { app, target, deps, options, run };
  let progress: ExportState = { ...state, unfinished: { ...run, completeTables } };
  await target.writeState(progress);
  const files: { path: string; rows: number }[] = [];
  const finish = async (counts: Readonly<Partial<Record<ExportTable, number>>>) => {
    const tables = Object.keys(counts) as ExportTable[];
    for (const table of tables) files.push({ path: toExportPath(table, run), rows: counts[table] ?? 0 });
    progress = { ...progress, unfinished: { ...run, completeTables: [...completeTables, ...tables] } };
    await target.writeState(progress);
  };

  const changedUsers = new Set<string>();
  if (!completeTables.includes('transactions'))
    await finish(await exportPurchases(context, deps.appItems.scanPurchaseIds(app.name, since), changedUsers));
  const usernames = since === undefined ? deps.appItems.scanUsernames(app.name) : [[...changedUsers]];
  await finish(await exportCustomers(context, usernames));

  await target.writeState({ app: app.name, format: 1, latest: run });
  return { ...run, files };
}

async function readOwnState(app: App, target: ExportTarget): Promise<ExportState> {
  const state = (await target.readState()) ?? { app: app.name, format: 1 };
  if (state.app === app.name) return state;
  throw new ServiceError('Conflict', `The target has the export of ${state.app}. Each app needs a target of its own.`);
}

function requireLatestExport({ latest }: ExportState): ExportRun {
  if (latest) return latest;
  throw new ServiceError('ResourceNotFound', 'The target has no complete export. Export all rows first.');
}

/** An export of changes starts again, because its customers follow from its purchases. */
function resumeOrStart({ unfinished }: ExportState, kind: ExportKind, now: EpochMillis) {
  const isResumable = kind === 'full' && unfinished?.kind === 'full' && isSameDay(unfinished.startedAt, now);
  return isResumable ? unfinished : { kind, startedAt: now, completeTables: [] };
}

const isSameDay = (a: EpochMillis, b: EpochMillis): boolean =>
  new Date(a).toISOString().slice(0, 10) === new Date(b).toISOString().slice(0, 10);

/** Exports purchases with their transactions. Adds the customers who own or claim them to `usernames`. */
async function exportPurchases(
  context: ExportContext,
  batches: AsyncIterable<string[]>,
  usernames: Set<string>,
): Promise<Partial<Record<ExportTable, number>>> {
  const { app, deps, options } = context;
  return await writeTables(context, ['purchases', 'transactions'], async (write) => {
    for await (const ids of batches) {
      for (const chunk of splitIntoChunks(ids, batchSize)) {
        options.signal?.throwIfAborted();
        const now = deps.now();
        const loaded = await pMap(chunk, async (id) => await deps.purchases.load(app.name, id));
        const purchases = loaded.filter((stored) => stored !== undefined);
        await write(
          'purchases',
          purchases.map((stored) => toExportedPurchase(stored, now)),
        );
        await write(
          'transactions',
          purchases.flatMap(({ state: { purchase, transactions } }) =>
            transactions.map(({ transaction }) => toExportedTransaction(transaction, purchase, now)),
          ),
        );
        if (options.kind === 'full') continue;
        for (const { entitledUsers, claims } of purchases)
          for (const username of [...entitledUsers, ...claims.map((claim) => claim.username)]) usernames.add(username);
      }
    }
  });
}

/** Exports customers with their entitlements. */
async function exportCustomers(
  context: ExportContext,
  batches: AsyncIterable<string[]> | Iterable<string[]>,
): Promise<Partial<Record<ExportTable, number>>> {
  const { app, deps, options } = context;
  const givesEntitlements = hasEntitlements(await deps.appCache.findCatalogue(app.name));
  return await writeTables(context, ['customers', 'entitlements'], async (write) => {
    for await (const usernames of batches) {
      for (const chunk of splitIntoChunks(usernames, batchSize)) {
        options.signal?.throwIfAborted();
        const now = deps.now();
        const customers = await pMap(chunk, async (username) => {
          const stored = await deps.customerData.find(app.name, username);
          return stored && toExportedCustomer(username, stored, now);
        });
        await write(
          'customers',
          customers.filter((customer) => customer !== undefined),
        );
        if (!givesEntitlements) continue;
        const entitlements = await pMap(chunk, async (username) =>
          toExportedEntitlements(username, await readEntitlements(app, username, deps), now),
        );
        await write('entitlements', entitlements.flat());
      }
    }
  });
}

type WriteRows = (table: ExportTable, rows: readonly object[]) => Promise<void>;

/** Writes the files of tables, all of them or none. Returns the numbers of rows. */
async function writeTables(
  { target, options, run }: ExportContext,
  tables: readonly ExportTable[],
  writeRows: (write: WriteRows) => Promise<void>,
): Promise<Partial<Record<ExportTable, number>>> {
  const counts: Partial<Record<ExportTable, number>> = Object.fromEntries(tables.map((table) => [table, 0]));
  const files = new Map<ExportTable, ExportFile>();
  try {
    for (const table of tables) files.set(table, await target.openFile(toExportPath(table, run)));
    await writeRows(async (table, rows) => {
      await files.get(table)?.write(rows);
      counts[table] = (counts[table] ?? 0) + rows.length;
      options.onProgress?.(table, counts[table]);
    });
    for (const file of files.values()) await file.close();
  } catch (error) {
    for (const file of files.values()) await file.discard();
    throw error;
  }
  return counts;
}
