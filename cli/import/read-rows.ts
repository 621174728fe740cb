import { parse as parseCsv } from 'csv-parse/sync';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { type RawRow, requireKnownColumns } from '../../lib/import/parse-import-row.ts';
import { type Line, maxRowLength } from './read-lines.ts';

export type FileFormat = 'csv' | 'jsonl';

/** A row of a file, or the reason why it cannot be read. */
export type FileRow = { readonly line: number } & ({ readonly raw: RawRow } | { readonly problem: string });

/**
 * Determines the format from the ending of the name: CSV, or JSON lines. Throws `InvalidPayload` for another ending.
 */
export function getFileFormat(path: string): FileFormat {
  if (/\.csv$/i.test(path)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/i.test(path)) return 'jsonl';
  throw new ServiceError('InvalidPayload', 'The name of the file must end with .csv, or with .jsonl for JSON lines.');
}

/** Reads the rows of a file. A row that cannot be read has a `problem` and does not affect the next rows. */
export const readRows = (lines: AsyncIterable<Line>, format: FileFormat): AsyncGenerator<FileRow> =>
  format === 'csv' ? readCsvRows(lines) : readJsonRows(lines);

async function* readJsonRows(lines: AsyncIterable<Line>): AsyncGenerator<FileRow> {
  for await (const { text, number: line } of lines) {
    if (text.trim() === '') continue;
    const raw = parseObject(text);
    yield raw ? { line, raw } : { line, problem: 'The line is not a JSON object.' };
  }
}

function parseObject(text: string): RawRow | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawRow) : undefined;
  } catch {
    return undefined;
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc4180 */
async function* readCsvRows(lines: AsyncIterable<Line>): AsyncGenerator<FileRow> {
  let header: readonly string[] | undefined;
  for await (const { line, values } of readRecords(lines)) {
    if (header) yield toCsvRow(values, header, line);
    else header = requireHeader(values);
  }
}

function requireHeader(values: readonly string[] | undefined): readonly string[] {
  const header = (values ?? []).map((column) => column.trim());
  requireKnownColumns(header);
  if (new Set(header).size !== header.length)
    throw new ServiceError('InvalidPayload', 'The first line contains a column twice.');
  return header;
}

function toCsvRow(values: readonly string[] | undefined, header: readonly string[], line: number): FileRow {
  if (!values) return { line, problem: 'The quotes of the row are invalid: see RFC 4180.' };
  if (values.length !== header.length)
    return { line, problem: `The row has ${values.length} values, but the first line has ${header.length} columns.` };
  return { line, raw: Object.fromEntries(header.map((column, index) => [column, values[index]])) };
}

/** A record of a CSV file. `values` is undefined if its quotes are invalid. */
interface CsvRecord {
  readonly line: number;
  readonly values: readonly string[] | undefined;
}

async function* readRecords(lines: AsyncIterable<Line>): AsyncGenerator<CsvRecord> {
  const joiner = createRecordJoiner();
  for await (const line of lines) yield* joiner.add([line]);
  yield* joiner.end();
}

/**
 * Joins the lines of records with line feeds in quotes. If the quotes of a joined record are invalid or not closed,
 * only its first line is invalid: the next lines are read again.
 */
function createRecordJoiner() {
  let open: Line[] = [];
  let openLength = 0;
  let isQuoted = false;
  const takeOpen = (): readonly Line[] => {
    const lines = open;
    open = [];
    openLength = 0;
    isQuoted = false;
    return lines;
  };
  const reject = (): { record: CsvRecord; rest: readonly Line[] } => {
    const [first, ...rest] = takeOpen() as [Line, ...Line[]];
    return { record: { line: first.number, values: undefined }, rest };
  };
  function* add(added: readonly Line[]): Generator<CsvRecord> {
    // The next line is the last one: taking the first one of an array would copy the others.
    const queue = added.toReversed();
    for (let next = queue.pop(); next; next = queue.pop()) {
      open.push(next);
      openLength += next.text.length + 1;
      isQuoted = endsInQuotes(next.text, isQuoted);
      const values = isQuoted ? undefined : parseRecord(open.map(({ text }) => text).join('\n'));
      if (values) {
        const [{ number: line }] = takeOpen() as [Line];
        if (values.some((value) => value.trim() !== '')) yield { line, values };
      } else if (!isQuoted || openLength > maxRowLength) {
        const { record, rest } = reject();
        yield record;
        for (const line of rest.toReversed()) queue.push(line);
      }
    }
  }
  function* end(): Generator<CsvRecord> {
    while (open.length > 0) {
      const { record, rest } = reject();
      yield record;
      yield* add(rest);
    }
  }
  return { add, end };
}

/** A quoted value continues after the line. Ignores quotes inside an unquoted value. */
function endsInQuotes(text: string, startsInQuotes: boolean): boolean {
  let isQuoted = startsInQuotes;
  let isValueStart = !startsInQuotes;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isQuoted) {
      if (character !== '"') continue;
      if (text[index + 1] === '"') index++;
      else isQuoted = false;
    } else {
      isQuoted = character === '"' && isValueStart;
      isValueStart = character === ',';
    }
  }
  return isQuoted;
}

/** Returns the values of one record; none for an empty line. Undefined if its quotes are invalid. */
function parseRecord(text: string): readonly string[] | undefined {
  try {
    const options = { record_delimiter: '\n', relax_column_count: true };
    const [values = [], ...others] = parseCsv(text.replace(/\r$/, ''), options) as unknown as string[][];
    return others.length === 0 ? values : undefined;
  } catch {
    return undefined;
  }
}
