import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { parse as createCsvParser } from 'csv-parse';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { describeFileError } from '../../describe-file-error.ts';
import { createDecoder, detectEncoding } from '../../text-encoding.ts';
import type { ExportRecord } from './mover.ts';

/** A record of an export, or a row that cannot be read. */
type ExportRow = ExportRecord | UnreadableRow;

export interface UnreadableRow {
  readonly line: number;
}

export const isUnreadable = (row: ExportRow): row is UnreadableRow => typeof row.line === 'number';

/**
 * Reads the rows of an export: CSV with a header and with commas or semicolons, in UTF-8, or in UTF-16 with a byte
 * order mark, also compressed by gzip. Throws `InvalidPayload` if the file cannot be read, is empty or lacks all of
 * the required columns.
 */
export async function* readExport(path: string, requiredColumns: readonly string[]): AsyncGenerator<ExportRow> {
  const unreadable: UnreadableRow[] = [];
  let hasInvalidQuotes = false;
  const texts = readText(path);
  const { value: start = '' } = await texts.next();
  const parser = createCsvParser({
    delimiter: detectDelimiter(start),
    columns: (header: readonly string[]) => requireHeader(header, requiredColumns),
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip(error) {
      if (error?.code.startsWith('CSV_RECORD_INCONSISTENT')) unreadable.push({ line: Number(error.lines) });
      else hasInvalidQuotes = true;
    },
  });
  const reading = pipeline(Readable.from(prepend(start, texts)), parser);
  reading.catch(() => {});
  let rows = 0;
  for await (const record of parser as AsyncIterable<ExportRecord>) {
    rows++;
    yield record;
  }
  await reading;
  // An open quote makes one row of all rows after it.
  if (hasInvalidQuotes)
    throw new ServiceError('InvalidPayload', `${path} is not CSV: the quotes of a row are invalid (RFC 4180).`);
  yield* unreadable;
  if (rows + unreadable.length === 0) throw new ServiceError('InvalidPayload', `${path} has no rows.`);
}

/**
 * RevenueCat separates columns by semicolons.
 * @see https://www.revenuecat.com/docs/integrations/scheduled-data-exports
 */
const detectDelimiter = (start: string): string => (/^[^,\n]*;/.test(start) ? ';' : ',');

async function* prepend(start: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield start;
  yield* texts;
}

function requireHeader(header: readonly string[], requiredColumns: readonly string[]): string[] {
  const columns = header.map((column) => column.trim());
  if (!requiredColumns.some((column) => columns.includes(column)))
    throw new ServiceError('InvalidPayload', `The export has none of the columns ${requiredColumns.join(', ')}.`);
  if (new Set(columns).size !== columns.length)
    throw new ServiceError('InvalidPayload', 'The first line contains a column twice.');
  return columns;
}

async function* readText(path: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of await openBytes(path)) {
      decoder ??= createDecoder(detectEncoding(chunk));
      yield decoder.decode(chunk, { stream: true });
    }
    if (decoder) yield decoder.decode();
  } catch (error) {
    // A wrong character in a username would move the purchase to another customer.
    throw new ServiceError('InvalidPayload', `${path} ${describeProblem(error, decoder?.encoding)}.`);
  }
}

function describeProblem(error: unknown, encoding = ''): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return `is not ${encoding.toUpperCase()}. Save it as UTF-8`;
  return code.startsWith('Z_') ? 'is an incomplete gzip file' : describeFileError(error);
}

/** RevenueCat compresses its exports. */
async function openBytes(path: string): Promise<AsyncIterable<Buffer>> {
  const file = await open(path);
  const { buffer: start } = await file.read(Buffer.alloc(2), 0, 2, 0).finally(async () => await file.close());
  const bytes = createReadStream(path);
  if (start[0] !== 0x1f || start[1] !== 0x8b) return bytes;
  const unzipped = createGunzip();
  bytes.once('error', (error) => void unzipped.destroy(error));
  return bytes.pipe(unzipped);
}
