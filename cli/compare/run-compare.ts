import { setMaxListeners } from 'node:events';
import type { RawRow } from '../../lib/import/parse-import-row.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import type { Vocabulary } from '../../lib/shared/vocabulary.ts';
import { createRateLimiter } from '../import/rate-limiter.ts';
import { readLines } from '../import/read-lines.ts';
import { type FileRow, getFileFormat, readRows } from '../import/read-rows.ts';
import { compareResults, type Difference } from './compare-results.ts';
import { isExclusion, toValidationBody } from './to-validation-body.ts';
import type { Validator } from './validator.ts';
import type { ValidatorResult } from './validator-result.ts';

export interface CompareOptions {
  readonly path: string;
  readonly here: Validator;
  readonly there: Validator;
  /** Whether the purchases of the customers are compared in place of validations. */
  readonly comparesUsers: boolean;
  readonly vocabulary: Vocabulary;
  readonly includesUser: boolean;
  readonly toleranceMs: number;
  /** Rows per second. */
  readonly rate: number;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number, differences: number) => void;
}

/** A difference with the line of its row. */
export type RowDifference = Difference & { readonly line: number; readonly user?: string };

export interface CompareReport {
  readonly rows: number;
  readonly compared: number;
  /** Rows without a difference. */
  readonly equal: number;
  readonly differences: readonly RowDifference[];
  /** Rows without a result of both validators, such as a validator that is unavailable. */
  readonly notCompared: readonly NotCompared[];
  /** Set if the operator ended the command before the end of the file. */
  readonly interrupted?: true;
}

interface NotCompared {
  readonly line: number;
  readonly reason: string;
  /** Set if the row can never be compared. It does not make the comparison incomplete. */
  readonly isExcluded?: true;
}

/** Whether a comparison without a difference is complete: it compared something, and all rows that can be compared. */
export const isProof = ({ compared, notCompared, interrupted }: CompareReport): boolean =>
  compared > 0 && !interrupted && notCompared.every(({ isExcluded }) => isExcluded);

const concurrency = 8;

type RowResult = { readonly differences: readonly RowDifference[] } | Omit<NotCompared, 'line'>;

/** Compares the results of two validators for each row of a file. Stops at the rows in progress if the signal is aborted. */
export async function runCompare(options: CompareOptions): Promise<CompareReport> {
  const { path, rate, signal, onProgress } = options;
  setMaxListeners(0, signal);
  const limiter = createRateLimiter({ rows: rate });
  const differences: RowDifference[] = [];
  const notCompared: NotCompared[] = [];
  let isInterrupted = false;
  let rows = 0;
  let equal = 0;
  const running: { readonly line: number; readonly result: Promise<RowResult> }[] = [];
  const finishFirst = async (): Promise<void> => {
    const { line, result } = running.shift() as (typeof running)[number];
    const rowResult = await result;
    rows++;
    if ('reason' in rowResult) notCompared.push({ line, ...rowResult });
    else differences.push(...rowResult.differences);
    if ('differences' in rowResult && rowResult.differences.length === 0) equal++;
    onProgress(rows, differences.length);
  };
  for await (const row of readRows(readLines(path).lines, getFileFormat(path))) {
    if (signal.aborted) {
      isInterrupted = true;
      break;
    }
    await limiter.acquire('rows', signal).catch(() => {});
    running.push({ line: row.line, result: compareRow(row, options) });
    if (running.length >= concurrency) await finishFirst();
  }
  while (running.length > 0) await finishFirst();
  return {
    ...{ rows, compared: rows - notCompared.length, equal, differences, notCompared },
    ...(isInterrupted && { interrupted: true }),
  };
}

async function compareRow(row: FileRow, options: CompareOptions): Promise<RowResult> {
  if ('problem' in row) return { reason: row.problem };
  try {
    const user = findUser(row.raw);
    const [here, there] = await fetchResults(row.raw, options);
    const differences = compareResults(here, there, options);
    const warning = here.warning ?? there.warning;
    // The warning means that a validator could not query the store.
    if (differences.length > 0 && warning !== undefined)
      return { reason: `A validator returned a warning: ${warning}` };
    return {
      differences: differences.map((difference) => ({
        line: row.line,
        ...(user !== undefined && { user }),
        ...difference,
      })),
    };
  } catch (error) {
    if (error instanceof ServiceError)
      return { reason: error.message, ...(isExclusion(error) && { isExcluded: true }) };
    throw error;
  }
}

async function fetchResults(
  raw: RawRow,
  { here, there, comparesUsers, ...options }: CompareOptions,
): Promise<[ValidatorResult, ValidatorResult]> {
  if (comparesUsers) {
    const user = findUser(raw);
    if (user === undefined) throw new ServiceError('InvalidPayload', 'user is missing.');
    return await Promise.all([here.listPurchases(user), there.listPurchases(user)]);
  }
  const body = toValidationBody(raw, options);
  return await Promise.all([here.validate(body), there.validate(body)]);
}

/** Returns the customer of a row, or of a recorded body. */
function findUser({ user, additionalData }: RawRow): string | undefined {
  const { applicationUsername } = (additionalData ?? {}) as { readonly applicationUsername?: unknown };
  const name = user ?? applicationUsername;
  return name === undefined || name === null || name === '' ? undefined : String(name);
}
