/** A value of a cell of a CSV file. */
export type CsvValue = string | number | boolean | null | undefined;

/**
 * Spreadsheets run text with these beginnings as a formula, some of them after spaces or in their full-width forms.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const formulaPattern = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Builds a CSV file: RFC 4180, with a byte order mark, which spreadsheets need to read UTF-8. */
export const buildCsv = (rows: readonly (readonly CsvValue[])[]): string =>
  `\uFEFF${rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')}`;

function toCell(value: CsvValue): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && formulaPattern.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Offers a file for download. */
export function downloadFile(name: string, content: string, type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
