import pMap, { pMapSkip } from 'p-map';
import type { App } from '../apps/app.ts';
import { listEntitlementNames } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { scanAccounts } from '../credits/credit-table.ts';
import { findStoredCustomer } from '../customer-data/customer-data-table.ts';
import { listStoredGrants } from '../entitlements/grant-table.ts';
import { readEntitlements } from '../entitlements/read-entitlements.ts';
import { splitIntoChunks } from '../foundation/batches.ts';
import { ServiceError } from '../foundation/errors.ts';
import { attemptItems, type FailedItem } from '../foundation/failed-items.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, minuteMs } from '../foundation/time.ts';
import { scanIdPages, scanPurchaseIds, scanUsernames } from '../purchases/app-item-table.ts';
import { findStoredPurchase } from '../purchases/purchase-table.ts';
import {
  toExportedCredits,
  toExportedCustomer,
  toExportedEntitlements,
  toExportedPurchase,
  toExportedTransaction,
  toLostEntitlement,
} from './export-rows.ts';
import type {
  ExportKind,
  ExportPosition,
  ExportRun,
  ExportState,
  ExportTable,
  UnfinishedExport,
} from './export-state.ts';
import type { ExportTarget } from './export-target.ts';
import { openPart, type TablePart, type WriteRows } from './write-part.ts';

export interface ExportAppOptions {
  readonly kind: ExportKind;
  /** Receives the number of rows of a table that are written so far. */
  readonly onProgress?: (table: ExportTable, rows: number) => void;
  /** Interrupts the export. The next one continues it. */
  readonly signal?: AbortSignal;
  /** Number of rows after which a part of a table ends. Default: 250,000. */
  readonly rowsPerPart?: number;
}

interface ExportedFile {
  readonly path: string;
  readonly rows: number;
}

/** A complete export, with the files that this run has written. */
export interface ExportReport extends ExportRun {
  readonly files: readonly ExportedFile[];
  /** Purchases, customers and credits whose rows are missing, because they are not readable. */
  readonly failed: readonly FailedItem[];
}

interface ExportContext {
  readonly app: App;
  readonly target: ExportTarget;
  readonly service: Service;
  readonly options: ExportAppOptions;
  readonly run: ExportRun;
  saveProgress(progress: Pick<UnfinishedExport, 'completeTables' | 'position'>): Promise<void>;
  readonly attempt: ReturnType<typeof attemptItems>['attempt'];
}

/** Number of purchases or customers that are read concurrently. */
const batchSize = 25;

const maxPageSize = 1_000;

/** A part has at most the rows of one page of ids more. It limits what an interruption repeats, and disk space. */
const defaultRowsPerPart = 250_000;

/** An older export starts again. The rows of a very large app take more than a day. */
const maxDurationMs = 7 * dayMs;

/** Changes of this time before an export are exported again, because the index of changes is eventually consistent. */
const overlapMs = 5 * minuteMs;

/**
 * Exports an app to a target, at least once: every readable row that was written before the start of an export is in
 * its files, or in an earlier export. A large table has several parts. A full export that was interrupted continues for
 * a week after its last complete part.
 */
export async function exportApp(
  service: Service,
  app: App,
  target: ExportTarget,
  options: ExportAppOptions,
): Promise<ExportReport> {
  const state = await readOwnState(app, target);
  const since = options.kind === 'changes' ? requireLatestExport(state).startedAt - overlapMs : undefined;
  const unfinished = resumeOrStart(state, options.kind, service.now());
  const { kind, startedAt, completeTables } = unfinished;
  const run: ExportRun = { kind, startedAt };
  const { attempt, failed } = attemptItems({ worker: 'export-apps', app: app.name });
  const context: ExportContext = {
    app,
    target,
    service,
    options,
    run,
    saveProgress: async (progress) => await target.writeState({ ...state, unfinished: { ...run, ...progress } }),
    attempt,
  };
  await context.saveProgress(unfinished);
  const files: ExportedFile[] = [];
  const changedUsers = new Set<string>();
  let { position } = unfinished;
  if (!completeTables.includes('transactions')) {
    files.push(...(await exportPurchases(context, { since, position, changedUsers })));
    position = undefined;
    if (since !== undefined)
      for await (const usernames of scanUsernames(service, app.name, since))
        for (const username of usernames) changedUsers.add(username);
    await context.saveProgress({ completeTables: purchaseTables });
  }
  if (!completeTables.includes('entitlements')) {
    files.push(...(await exportCustomers(context, { position, ...(since !== undefined && { changedUsers }) })));
    await context.saveProgress({ completeTables: [...purchaseTables, ...customerTables] });
  }
  files.push(...(await exportCredits(context)));
  await target.writeState({ app: app.name, format: 1, latest: run });
  return { ...run, files, failed };
}

async function readOwnState(app: App, target: ExportTarget): Promise<ExportState> {
  const state = (await target.readState()) ?? { app: app.name, format: 1 };
  if (state.app === app.name) return state;
  throw new ServiceError('Conflict', `The target has the export of ${state.app}. Each app needs its own target.`);
}

function requireLatestExport({ latest }: ExportState): ExportRun {
  if (latest) return latest;
  throw new ServiceError('ResourceNotFound', 'The target has no complete export. Export all rows first.');
}

/** An export of changes starts again, because its customers follow from its purchases. */
function resumeOrStart({ unfinished }: ExportState, kind: ExportKind, now: EpochMillis): UnfinishedExport {
  const isResumable = kind === 'full' && unfinished?.kind === 'full' && now - unfinished.startedAt < maxDurationMs;
  return isResumable ? unfinished : { kind, startedAt: now, completeTables: [] };
}

const purchaseTables: readonly ExportTable[] = ['purchases', 'transactions'];
const customerTables: readonly ExportTable[] = ['customers', 'entitlements'];

interface PurchasesOptions {
  /** Undefined: all purchases. */
  readonly since: EpochMillis | undefined;
  readonly position: ExportPosition | undefined;
  /** Receives the customers who own or claim changed purchases. */
  readonly changedUsers: Set<string>;
}

/** Exports purchases with their transactions. */
async function exportPurchases(
  context: ExportContext,
  { since, position, changedUsers }: PurchasesOptions,
): Promise<ExportedFile[]> {
  const { app, service, attempt } = context;
  const tables = { tables: purchaseTables, completeTables: [], position };
  const pages =
    since === undefined
      ? scanPages(context, 'purchases', position)
      : toPages(scanPurchaseIds(service, app.name, since));
  return await writeParts(context, tables, pages, async (ids, write) => {
    const now = service.now();
    const findPurchase = async (id: string) =>
      await attempt(id, async () => await findStoredPurchase(service, app.name, id));
    const purchases = await pMap(ids, async (id) => (await findPurchase(id)) ?? pMapSkip);
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
    if (since === undefined) return;
    for (const { entitledUsers, claims } of purchases)
      for (const username of [...entitledUsers, ...claims.map((claim) => claim.username)]) changedUsers.add(username);
  });
}

interface CustomersOptions {
  readonly position: ExportPosition | undefined;
  /** Undefined: all customers. */
  readonly changedUsers?: ReadonlySet<string>;
}

/** Exports customers with their entitlements. */
async function exportCustomers(
  context: ExportContext,
  { position, changedUsers }: CustomersOptions,
): Promise<ExportedFile[]> {
  const { app, service, attempt } = context;
  const names = listEntitlementNames(await findCachedCatalogue(service, app.name));
  const tables = { tables: customerTables, completeTables: purchaseTables, position };
  const pages = changedUsers ? toPages([[...changedUsers]]) : scanPages(context, 'customers', position);
  return await writeParts(context, tables, pages, async (usernames, write) => {
    const now = service.now();
    const readCustomer = async (username: string) => {
      const stored = await findStoredCustomer(service, app.name, username);
      // Without entitlements in the catalogue, only grants give some: one query for each customer decides.
      const hasSource = names.length > 0 || (await listStoredGrants(service, app.name, username)).length > 0;
      const current = hasSource ? await readEntitlements(service, app, username) : new Map();
      const lost = stored?.hasLostPurchase ? names.filter((name) => !current.has(name)) : [];
      const entitlements = [
        ...toExportedEntitlements(username, current, now),
        ...lost.map((name) => toLostEntitlement(username, name, now)),
      ];
      return { customers: stored ? [toExportedCustomer(username, stored, now)] : [], entitlements };
    };
    const rows = await pMap(
      usernames,
      async (username) => (await attempt(username, async () => await readCustomer(username))) ?? pMapSkip,
    );
    await write(
      'customers',
      rows.flatMap(({ customers }) => customers),
    );
    await write(
      'entitlements',
      rows.flatMap(({ entitlements }) => entitlements),
    );
  });
}

/** Exports the credits of all customers, also with changes: a spend changes no purchase. */
async function exportCredits(context: ExportContext): Promise<ExportedFile[]> {
  const { app, service, attempt } = context;
  const completeTables = [...purchaseTables, ...customerTables];
  const tables = { tables: ['credits'] as const, completeTables, position: undefined };
  return await writeParts(context, tables, toPages(scanAccounts(service, app.name)), async (accounts, write) => {
    const credits = await pMap(
      accounts,
      async ({ username, read }) =>
        await attempt(`credits of ${username}`, async () => toExportedCredits(read(), service.now())),
    );
    await write(
      'credits',
      credits.flatMap((rows = []) => rows),
    );
  });
}

/** A page of ids, or of what was read. Without a position, an interrupted export starts again. */
interface ScanPage<T> {
  readonly ids: readonly T[];
  readonly position?: string;
}

/** A part ends with a page: a page has at most as many ids as a part has rows. */
const scanPages = (
  { app, service, options: { rowsPerPart = defaultRowsPerPart } }: ExportContext,
  list: 'purchases' | 'customers',
  position: ExportPosition | undefined,
): AsyncIterable<ScanPage<string>> =>
  scanIdPages(service, app.name, list, { after: position?.after, pageSize: Math.min(maxPageSize, rowsPerPart) });

async function* toPages<T>(batches: AsyncIterable<T[]> | Iterable<T[]>): AsyncGenerator<ScanPage<T>> {
  for await (const ids of batches) yield { ids };
}

interface TablesProgress {
  readonly tables: readonly ExportTable[];
  readonly completeTables: readonly ExportTable[];
  readonly position: ExportPosition | undefined;
}

type WriteBatch<T> = (ids: readonly T[], write: WriteRows) => Promise<void>;

/** Writes the remaining parts of tables, each of them as a whole or not at all. Returns their files. */
async function writeParts<T>(
  { target, run, options, saveProgress }: ExportContext,
  { tables, completeTables, position }: TablesProgress,
  pages: AsyncIterable<ScanPage<T>>,
  writeBatch: WriteBatch<T>,
): Promise<ExportedFile[]> {
  const { signal, onProgress, rowsPerPart = defaultRowsPerPart } = options;
  const files: ExportedFile[] = [];
  const totals = new Map<ExportTable, number>();
  let parts = position?.parts ?? 0;
  let part: TablePart | undefined;
  const openNext = async () => await openPart(target, { tables, run, part: parts + 1 });
  const write: WriteRows = async (table, rows) => {
    await part?.write(table, rows);
    totals.set(table, (totals.get(table) ?? 0) + rows.length);
    onProgress?.(table, totals.get(table) ?? 0);
  };
  const close = async () => {
    files.push(...((await part?.close()) ?? []));
    parts += 1;
    part = undefined;
  };
  try {
    for await (const page of pages) {
      signal?.throwIfAborted();
      part ??= await openNext();
      for (const ids of splitIntoChunks(page.ids, batchSize)) await writeBatch(ids, write);
      const isEnd = signal?.aborted || part.countRows() >= rowsPerPart;
      if (!isEnd || page.position === undefined) continue;
      await close();
      await saveProgress({ completeTables, position: { parts, after: page.position } });
    }
    // An empty table has a file, too.
    if (!part && parts === 0) part = await openNext();
    if (part) await close();
  } catch (error) {
    await part?.discard();
    throw error;
  }
  return files;
}
