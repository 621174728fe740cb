import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { describeFileError } from '../describe-file-error.ts';
import { describeRestart } from './progress-file.ts';
import type { FileFormat } from './read-rows.ts';

/** A row that the import cannot accept. */
export interface RefusedRow {
  readonly line: number;
  /** Neutral token. Undefined if the row does not have a valid platform. */
  readonly platform?: string | undefined;
  /** The token, receipt or id of the row. Only a part of it is written. */
  readonly evidence?: string | undefined;
  readonly reason: string;
}

/** The report of the refused rows of an import, in the format of the imported file. */
export interface RefusedRows {
  readonly path: string;
  add(row: RefusedRow): Promise<void>;
  /** Waits until the report is on the disk. Returns its length in bytes. */
  flush(): Promise<number>;
  close(): Promise<void>;
}

const columns = ['line', 'platform', 'evidence', 'reason'] as const;

/**
 * Opens the report and shortens it to its length at the last saved progress. It is created with the first refused row.
 * Throws `Conflict` if the report of an unfinished import is missing.
 */
export async function openRefusedRows(path: string, format: FileFormat, initialBytes: number): Promise<RefusedRows> {
  const reportPath = `${path}.refused.${format}`;
  if (initialBytes === 0) await rm(reportPath, { force: true });
  let file: FileHandle | undefined = initialBytes === 0 ? undefined : await reopen(reportPath, path);
  await file?.truncate(initialBytes);
  let bytes = initialBytes;
  const append = async (text: string): Promise<void> => {
    file ??= await open(reportPath, 'w');
    const { bytesWritten } = await file.write(text, bytes);
    bytes += bytesWritten;
  };
  return {
    path: reportPath,
    async add(row) {
      if (bytes === 0 && format === 'csv') await append(`${columns.join(',')}\n`);
      await append(`${formatRow(row, format)}\n`);
    },
    async flush() {
      await file?.datasync();
      return bytes;
    },
    close: async () => await file?.close(),
  };
}

/** Opens the report of an unfinished import. */
async function reopen(reportPath: string, path: string): Promise<FileHandle> {
  try {
    return await open(reportPath, 'r+');
  } catch (cause) {
    throw new ServiceError(
      'Conflict',
      `${reportPath} ${describeFileError(cause)}. Restore it, or ${describeRestart(path)}.`,
      { cause },
    );
  }
}

function formatRow({ line, platform = '', evidence, reason }: RefusedRow, format: FileFormat): string {
  const row = { line, platform, evidence: evidence === undefined ? '' : abbreviate(evidence), reason };
  return format === 'jsonl' ? JSON.stringify(row) : columns.map((column) => quote(String(row[column]))).join(',');
}

/**
 * Spreadsheets run text with these beginnings as a formula, and the texts come from the imported file.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const formulaPattern = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

function quote(text: string): string {
  const safe = formulaPattern.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Shorter texts would be readable from their last characters. */
const minAbbreviatedLength = 16;

/** Returns what identifies a token or receipt for the operator without its content. */
const abbreviate = (evidence: string): string =>
  evidence.length >= minAbbreviatedLength
    ? `…${evidence.slice(-4)}`
    : `sha256:${createHash('sha256').update(evidence).digest('hex').slice(0, 12)}`;
