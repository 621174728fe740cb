import { setMaxListeners } from 'node:events';
import { ServiceError } from '../../lib/foundation/errors.ts';
import type { Vocabulary } from '../../lib/foundation/vocabulary.ts';
import type { RawRow } from '../../lib/import/parse-import-row.ts';
import { createLineTracker } from '../import/line-tracker.ts';
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
  /** Compares the purchases of the customers instead of validations. */
  readonly comparesUsers: boolean;
  readonly vocabulary: Vocabulary;
  readonly includesUser: boolean;
  /** A validation that names an erased customer would end the erasure. */
  readonly isErased: (username: string) => Promise<boolean>;
  readonly toleranceMs: number;
  readonly rate: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CompareProgress) => void;
}

export interface CompareProgress {
  readonly rows: number;
  readonly differences: number;
  /** Length of the lines of these rows in the file. */
  readonly bytesDone: number;
}

/** A difference with the line of its row. */
export type RowDifference = Difference & { readonly line: number; readonly user?: string };

export interface CompareReport {
  /** Rows of the file, or with `comparesUsers` the users and the rows without a user. */
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

const concurrency = 8;

type RowResult = { readonly differences: readonly RowDifference[] } | Omit<NotCompared, 'line'>;

/**
 * Compares the results of two validators for each row of a file. Stops at the rows in progress if the signal is
 * aborted.
 */
export async function runCompare(options: CompareOptions): Promise<CompareReport> {
  const { path, rate, signal, onProgress } = options;
  setMaxListeners(0, signal);
  const limiter = createRateLimiter({ rows: rate });
  const differences: RowDifference[] = [];
  const notCompared: NotCompared[] = [];
  const lines = createLineTracker(readLines(path));
  let isInterrupted = false;
  let rows = 0;
  let equal = 0;
  const running: { readonly line: number; readonly result: Promise<RowResult> }[] = [];
  const finishFirst = async (): Promise<void> => {
    const { line, result } = running.shift() as (typeof running)[number];
    const rowResult = await result;
    rows++;
    if ('reason' in rowResult) notCompared.push({ ...rowResult, line });
    else differences.push(...rowResult.differences);
    if ('differences' in rowResult && rowResult.differences.length === 0) equal++;
    onProgress({ rows, differences: differences.length, bytesDone: lines.finish(line) });
  };
  for await (const comparison of listComparisons(readRows(lines.lines, getFileFormat(path)), options)) {
    if (signal.aborted) {
      isInterrupted = true;
      break;
    }
    await limiter.acquire('rows', signal).catch(() => {});
    running.push({ line: comparison.line, result: runComparison(comparison, options) });
    if (running.length >= concurrency) await finishFirst();
  }
  while (running.length > 0) await finishFirst();
  return {
    rows,
    compared: rows - notCompared.length,
    equal,
    differences,
    notCompared,
    ...(isInterrupted && { interrupted: true }),
  };
}

/** A row to compare: its validation, or one of its users. `user` is the customer in the report. */
type Comparison = { readonly line: number } & (
  | { readonly user?: string; readonly fetch: () => Promise<[ValidatorResult, ValidatorResult]> }
  | Omit<NotCompared, 'line'>
);

/** Lists what to compare. A user of several rows is compared once. */
async function* listComparisons(
  rows: AsyncIterable<FileRow>,
  { here, there, comparesUsers, isErased, ...options }: CompareOptions,
): AsyncGenerator<Comparison> {
  const comparedUsers = new Set<string>();
  for await (const row of rows) {
    const { line } = row;
    if ('problem' in row) yield { line, reason: row.problem };
    else if (comparesUsers) {
      const users = findUsers(row.raw);
      if (users.length === 0) yield { line, ...describeMissingUser(row.raw) };
      for (const user of users) {
        if (comparedUsers.has(user)) continue;
        comparedUsers.add(user);
        if (await isErased(user)) {
          yield { line, ...erasedUser };
          continue;
        }
        const fetch = async () => await Promise.all([here.listPurchases(user), there.listPurchases(user)]);
        yield { line, user, fetch };
      }
    } else {
      const [user] = findUsers(row.raw);
      if (user !== undefined && options.includesUser && (await isErased(user))) {
        yield { line, ...erasedUser };
        continue;
      }
      const fetch = async () => {
        const body = toValidationBody(row.raw, options);
        return await Promise.all([here.validate(body), there.validate(body)]);
      };
      yield { line, fetch, ...(user !== undefined && { user }) };
    }
  }
}

const erasedUser = { reason: 'The user was erased on request.', isExcluded: true } as const;

async function runComparison(comparison: Comparison, options: CompareOptions): Promise<RowResult> {
  if ('reason' in comparison) return { ...comparison };
  const { line, user, fetch } = comparison;
  try {
    const [here, there] = await fetch();
    const differences = compareResults(here, there, options);
    const warning = here.warning ?? there.warning;
    // The warning means that a validator could not query the store.
    if (differences.length > 0 && warning !== undefined)
      return { reason: `A validator returned a warning: ${warning}` };
    return {
      differences: differences.map((difference) => ({ line, ...(user !== undefined && { user }), ...difference })),
    };
  } catch (error) {
    if (error instanceof ServiceError)
      return { reason: error.message, ...(isExclusion(error) && { isExcluded: true }) };
    throw error;
  }
}

/** Returns the customers of a row or of a recorded body, in the order of the row. */
function findUsers({ user, entitledUsers, additionalData }: RawRow): string[] {
  const { applicationUsername } = (additionalData ?? {}) as { readonly applicationUsername?: unknown };
  const names = [user ?? applicationUsername, ...(Array.isArray(entitledUsers) ? entitledUsers : [])];
  return [...new Set(names.filter((name) => name !== undefined && name !== null && name !== '').map(String))];
}

/** A purchase without users has nothing to compare. A row without the columns of users is a mistake. */
const describeMissingUser = (raw: RawRow): Omit<NotCompared, 'line'> =>
  'user' in raw || 'entitledUsers' in raw
    ? { reason: 'The purchase has no user.', isExcluded: true }
    : { reason: 'user is missing.' };
