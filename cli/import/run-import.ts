import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { type ErrorCode, ServiceError } from '../../lib/foundation/errors.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { parsePlatform } from '../../lib/foundation/vocabulary.ts';
import { type ImportContext, importRow } from '../../lib/import/import-row.ts';
import { type ImportRow, parseImportRow, type RawRow } from '../../lib/import/parse-import-row.ts';
import { createLineTracker } from './line-tracker.ts';
import { lockImport } from './lock-file.ts';
import { deleteProgress, loadProgress, type Progress, saveProgress } from './progress-file.ts';
import { createRateLimiter, type RateLimiter, type StoreRates } from './rate-limiter.ts';
import { readLines } from './read-lines.ts';
import { type FileFormat, type FileRow, getFileFormat, readRows } from './read-rows.ts';
import { openRefusedRows, type RefusedRow, type RefusedRows } from './refused-rows.ts';
import { createSeenRows, type SeenRows } from './seen-rows.ts';

export interface ImportOptions {
  readonly appName: string;
  readonly path: string;
  readonly isUnannounced: boolean;
  readonly givesCredits: boolean;
  readonly isResumed: boolean;
  readonly rates: StoreRates;
  /** Maximum time for the retries of a row while its store or the table is unavailable. */
  readonly maxWaitMs: number;
  /** Stops the import after the rows in progress. */
  readonly signal: AbortSignal;
  readonly onProgress: (state: ImportState) => void;
  readonly service: Service;
}

/** Numbers of rows so far, including the rows of an interrupted import. */
interface ImportCounts {
  readonly rows: number;
  /** Rows that changed a purchase or its users. Repeated rows count once. */
  readonly imported: number;
  readonly unchanged: number;
  readonly refused: number;
}

export interface ImportState extends ImportCounts {
  /** Rows of an interrupted import. */
  readonly resumedRows: number;
  /** Length of the lines of these rows in the file. */
  readonly bytesDone: number;
  /** The same of an interrupted import. */
  readonly resumedBytes: number;
}

export interface ImportReport extends ImportCounts {
  /** Path of the report. Undefined if no row was refused. */
  readonly refusedFile?: string;
}

/** Number of rows that are imported concurrently. The memory does not grow with the file. */
const concurrency = 16;

/** A crash repeats at most the rows since the last saved progress, which then change nothing. */
const saveIntervalMs = secondMs;

type RowResult = 'imported' | 'unchanged' | RefusedRow;

/**
 * Imports the rows of a file. Saves the progress in the order of the rows, so that a later run continues after a crash.
 * Throws `Conflict` like `loadProgress` and `lockImport`, and the failure of a row that must not be refused: the import
 * can be resumed after it.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { path, appName, service } = options;
  const app = await getApp(service, appName);
  const format = getFileFormat(path);
  const lock = await lockImport(path);
  try {
    return await runLocked(app, format, options);
  } finally {
    await lock.release();
  }
}

async function runLocked(app: ImportContext['app'], format: FileFormat, options: ImportOptions): Promise<ImportReport> {
  const { path, isUnannounced, givesCredits, isResumed } = options;
  const progress = await loadProgress({ path, app: app.name, isUnannounced, givesCredits, isResumed });
  const refusedRows = await openRefusedRows(path, format, progress.refusedBytes);
  try {
    const limiter = createRateLimiter(options.rates);
    const rowsByEvidence = new Map<string, Promise<unknown>>();
    const seenRows = createSeenRows();
    const counts = await importRows(progress, refusedRows, {
      ...options,
      seenRows,
      runRow: async (row, signal) => await runRow(row, { ...options, app, limiter, signal, rowsByEvidence }),
    });
    await deleteProgress(path);
    return { ...counts, ...(counts.refused > 0 && { refusedFile: refusedRows.path }) };
  } finally {
    await refusedRows.close();
  }
}

type RunOptions = ImportOptions & {
  readonly seenRows: SeenRows;
  readonly runRow: (row: FileRow, signal: AbortSignal) => Promise<RowResult>;
};

async function importRows(
  initial: Progress,
  refusedRows: RefusedRows,
  { path, signal, onProgress, runRow, seenRows }: RunOptions,
): Promise<ImportCounts> {
  let progress = initial;
  let savedAt = performance.now();
  const save = async (): Promise<void> => {
    progress = { ...progress, refusedBytes: await refusedRows.flush() };
    await saveProgress(path, progress);
    savedAt = performance.now();
  };
  const lines = createLineTracker(readLines(path));
  let resumedBytes = 0;
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  // Each waiting row listens to it.
  setMaxListeners(0, stopSignal);
  const running: RunningRow[] = [];
  const finishFirst = async (): Promise<void> => {
    const first = running[0] as RunningRow;
    const result = await first.result;
    running.shift();
    if (typeof result === 'object') await refusedRows.add(result);
    progress = countResult(progress, result);
    const bytesDone = lines.finish(first.line);
    onProgress({ ...toCounts(progress), resumedRows: initial.rows, bytesDone, resumedBytes });
    if (performance.now() - savedAt >= saveIntervalMs) await save();
  };
  await save();
  try {
    let index = 0;
    for await (const row of readRows(lines.lines, getFileFormat(path))) {
      const isRepeated = 'raw' in row && seenRows.add(row.raw);
      if (index++ < initial.rows) {
        resumedBytes = lines.finish(row.line);
        continue;
      }
      if (signal.aborted) throw interruptedError();
      const result = runRow(row, stopSignal).then((outcome) =>
        isRepeated && outcome === 'imported' ? 'unchanged' : outcome,
      );
      // Awaited in the order of the rows; another row can fail first.
      result.catch(() => {});
      running.push({ line: row.line, result });
      if (running.length >= concurrency) await finishFirst();
    }
    while (running.length > 0) await finishFirst();
  } catch (error) {
    stop.abort();
    await Promise.allSettled(running.map(({ result }) => result));
    while (running.length > 0 && (await isFulfilled(running[0]?.result))) await finishFirst();
    if (progress.rows === 0) {
      // The file can be corrected, for example its header. The progress is of the file as it was.
      await deleteProgress(path);
      const isOfFile = error instanceof ServiceError && error.code === 'InvalidPayload';
      const next = isOfFile ? 'Correct it and run the command again.' : 'Run the command again.';
      throw toStopError(error, `before the first row of ${path} was done. ${next}`);
    }
    await save();
    throw toStopError(
      error,
      `after ${progress.rows} rows of ${path}. Run the command again with --resume to continue.`,
    );
  }
  if (progress.rows === 0) {
    await deleteProgress(path);
    throw new ServiceError('InvalidPayload', `${path} has no rows.`);
  }
  await save();
  return toCounts(progress);
}

interface RunningRow {
  readonly line: number;
  readonly result: Promise<RowResult>;
}

const isFulfilled = async (promise: Promise<unknown> | undefined): Promise<boolean> =>
  promise !== undefined && (await Promise.allSettled([promise]))[0].status === 'fulfilled';

const toCounts = ({ rows, imported, unchanged, refused }: Progress): ImportCounts => ({
  rows,
  imported,
  unchanged,
  refused,
});

function countResult(progress: Progress, result: RowResult): Progress {
  const outcome = typeof result === 'object' ? 'refused' : result;
  return { ...progress, rows: progress.rows + 1, [outcome]: progress[outcome] + 1 };
}

/** Adds the last row of the import, and how to continue, to the message of a failure. */
function toStopError(error: unknown, position: string): ServiceError {
  const { code, message, cause } = ServiceError.fromUnknown(error);
  return new ServiceError(code, `${message} The import has stopped ${position}`, { cause });
}

const interruptedError = (): ServiceError => new ServiceError('Conflict', 'The command was interrupted.');

interface RowContext extends Pick<ImportOptions, 'maxWaitMs' | 'isUnannounced' | 'givesCredits' | 'service'> {
  readonly app: ImportContext['app'];
  readonly limiter: RateLimiter;
  readonly signal: AbortSignal;
  /** The last row in progress of each purchase. */
  readonly rowsByEvidence: Map<string, Promise<unknown>>;
}

/** Imports a row, or returns why it is refused. */
async function runRow(fileRow: FileRow, context: RowContext): Promise<RowResult> {
  const { line } = fileRow;
  if ('problem' in fileRow) return { line, reason: fileRow.problem };
  const row = tryParse(fileRow.raw);
  if (row instanceof ServiceError) return { line, platform: findPlatform(fileRow.raw), reason: row.message };
  try {
    const importIt = async () => await importWithRetries(row, line, context);
    return (await runAfterSameEvidence(row, context.rowsByEvidence, importIt)) ? 'imported' : 'unchanged';
  } catch (error) {
    if (!(error instanceof ServiceError) || !refusalCodes.has(error.code)) throw nameLine(error, line);
    return { line, platform: row.platform, evidence: row.evidence, reason: error.message };
  }
}

/** Runs the rows of one purchase one after the other: only the first one of repeated rows changes it. */
async function runAfterSameEvidence<T>(
  { platform, evidence }: ImportRow,
  rowsByEvidence: Map<string, Promise<unknown>>,
  run: () => Promise<T>,
): Promise<T> {
  const key = `${platform} ${evidence}`;
  const running = (rowsByEvidence.get(key) ?? Promise.resolve()).then(run);
  const settled = running.catch(() => {});
  rowsByEvidence.set(key, settled);
  try {
    return await running;
  } finally {
    if (rowsByEvidence.get(key) === settled) rowsByEvidence.delete(key);
  }
}

function tryParse(raw: RawRow): ImportRow | ServiceError {
  try {
    return parseImportRow(raw);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

const findPlatform = ({ platform }: RawRow): Platform | undefined => parsePlatform(String(platform ?? ''));

/** Codes of results that a later attempt does not change. */
const refusalCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['InvalidPayload', 'Forbidden', 'NeedMoreData', 'PurchaseExpired', 'ResourceNotFound'] as const),
]);

/** Codes of failures that are retried. Others need the operator, such as rejected store settings. */
const temporaryCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ConnectionFailed', 'Conflict', 'DatabaseError']);

const baseDelayMs = secondMs;
const maxDelayMs = 30 * secondMs;

/**
 * Retries temporary failures with exponential backoff and jitter. Throws the last one when the time for the row is
 * over.
 */
async function importWithRetries(
  row: ImportRow,
  line: number,
  { app, isUnannounced, givesCredits, service, limiter, maxWaitMs, signal }: RowContext,
): Promise<boolean> {
  const end = performance.now() + maxWaitMs;
  for (let attempt = 0; ; attempt++) {
    await limiter.acquire(row.platform, signal);
    let calls = 0;
    const onStoreCall = (): void => {
      if (calls++ > 0) limiter.charge(row.platform);
    };
    try {
      return await importRow(service, row, { app, line, isUnannounced, givesCredits, onStoreCall });
    } catch (error) {
      const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** attempt) * (0.5 + Math.random() / 2);
      const isTemporary = error instanceof ServiceError && temporaryCodes.has(error.code);
      if (!isTemporary || performance.now() + delayMs > end || signal.aborted) throw error;
      await setTimeout(delayMs, undefined, { signal });
    }
  }
}

/** Adds the line to a failure, so that the operator finds a row that fails repeatedly. */
function nameLine(error: unknown, line: number): ServiceError {
  if (error instanceof Error && error.name === 'AbortError') return interruptedError();
  const { code, message, cause } = ServiceError.fromUnknown(error);
  return new ServiceError(code, `${message} (line ${line})`, { cause });
}
