export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | undefined;
  /** Numbers are aligned to the right. */
  readonly align?: 'right';
  /** Values of the column are never broken into several lines, because operators copy them: ids, keys. */
  readonly isWhole?: true;
}

const gap = '  ';

/** Narrower columns are not readable. */
const minWidth = 10;

/**
 * Formats rows as a table. With a `width`, the columns of a terminal, it breaks long values into several lines of their
 * cell; if that is not enough, it formats each row as a list. Without a width, each row is one line. Returns an empty
 * text for no rows.
 */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) => columns.map(({ value }) => toCell(value(row))));
  const natural = columns.map(({ title }, index) =>
    Math.max(measure(title), ...cells.map((row) => measure(row[index] ?? ''))),
  );
  const widths = width === undefined ? natural : fitWidths(columns, natural, width - gap.length * (columns.length - 1));
  if (!widths) return formatLists(columns, cells);
  const titles = columns.map(({ title }) => title);
  return [titles, ...cells].flatMap((row) => formatRow(columns, widths, row)).join('\n');
}

const toCell = (value: string | number | undefined): string =>
  value === undefined ? '' : String(value).replaceAll(/\s+/g, ' ');

/** Characters as users count them. */
const segmenter = new Intl.Segmenter('en');
const toCharacters = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

/** East Asian and emoji characters take two columns of a terminal. */
const widePattern =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Extended_Pictographic}/u;
const measureCharacter = (character: string): number => (widePattern.test(character) ? 2 : 1);
const isPlainAscii = (text: string): boolean => /^[ -~]*$/.test(text);

/** Returns the columns that a text takes. */
const measure = (text: string): number =>
  isPlainAscii(text)
    ? text.length
    : toCharacters(text).reduce((sum, character) => sum + measureCharacter(character), 0);

/** Reduces the widest breakable column until the table fits. Returns undefined if it cannot fit. */
function fitWidths<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  available: number,
): readonly number[] | undefined {
  const widths = [...natural];
  const isBreakable = (index: number): boolean => !columns[index]?.isWhole && (widths[index] ?? 0) > minWidth;
  for (let excess = sum(widths) - available; excess > 0; excess -= 1) {
    const widest = widths.reduce<number | undefined>(
      (best, current, index) =>
        isBreakable(index) && (best === undefined || current > (widths[best] ?? 0)) ? index : best,
      undefined,
    );
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function formatRow<Row>(columns: readonly Column<Row>[], widths: readonly number[], row: readonly string[]): string[] {
  const brokenCells = row.map((cell, index) => breakText(cell, widths[index] ?? 0));
  const lineCount = Math.max(...brokenCells.map((lines) => lines.length));
  return Array.from({ length: lineCount }, (_, line) =>
    brokenCells
      .map((lines, index) => pad(lines[line] ?? '', widths[index] ?? 0, columns[index]?.align))
      .join(gap)
      .trimEnd(),
  );
}

function pad(text: string, width: number, align: Column<unknown>['align']): string {
  const padding = ' '.repeat(Math.max(0, width - measure(text)));
  return align === 'right' ? padding + text : text + padding;
}

/** Breaks a text into lines of at most `width` columns: at spaces, or within a longer part. */
export function breakText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(' ').flatMap((unbroken) => splitPart(unbroken, width))) {
    const longer = line === '' ? part : `${line} ${part}`;
    if (line !== '' && measure(longer) > width) lines.push(line);
    line = line !== '' && measure(longer) > width ? part : longer;
  }
  return [...lines, line];
}

function splitPart(unbroken: string, width: number): string[] {
  if (measure(unbroken) <= width) return [unbroken];
  const parts: string[] = [];
  let part = '';
  for (const character of toCharacters(unbroken)) {
    if (part !== '' && measure(part + character) > width) {
      parts.push(part);
      part = '';
    }
    part += character;
  }
  return [...parts, part];
}

/** Formats each row as lines of title and value, for terminals that are too narrow for the table. */
function formatLists<Row>(columns: readonly Column<Row>[], cells: readonly (readonly string[])[]): string {
  const titleWidth = Math.max(...columns.map(({ title }) => measure(title)));
  const formatList = (row: readonly string[]): string =>
    columns
      .flatMap(({ title }, index) => (row[index] ? [`${pad(title, titleWidth, undefined)}${gap}${row[index]}`] : []))
      .join('\n');
  return cells.map(formatList).join('\n\n');
}
