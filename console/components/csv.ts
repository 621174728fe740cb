/** A value of a cell of a CSV file. */
export type CsvValue = string | number | boolean | null | undefined;

/**
 * Spreadsheets run text with these beginnings as a formula, some of them after spaces or in their full-width forms.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const formulaPattern = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

export interface CsvColumn<Row> {
  readonly title: string;
  /** Value in the file; without it, the column is not in the file. */
  readonly csv?: (row: Row) => CsvValue;
}

/** Returns the titles of the columns of a file, and the conversion of rows to its lines. */
export function toCsvRows<Row>(columns: readonly CsvColumn<Row>[]) {
  const exported = columns.flatMap(({ title, csv }) => (csv ? [{ title, csv }] : []));
  return {
    titles: exported.map(({ title }) => title),
    toLines: (rows: readonly Row[]): string => buildLines(rows.map((row) => exported.map(({ csv }) => csv(row)))),
  };
}

/** Builds a CSV file: RFC 4180, with a byte order mark, which spreadsheets need to read UTF-8. */
export const buildCsv = (rows: readonly (readonly CsvValue[])[]): string => `\uFEFF${buildLines(rows)}`;

const buildLines = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

function toCell(value: CsvValue): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && formulaPattern.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Offers a file for download. */
export function downloadFile(name: string, parts: readonly string[], type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
