import type { Command } from 'commander';
import { formatCount } from './format.ts';
import { parseRowCount, parseRowLimit } from './option-parsers.ts';

/** The page of a list that a command prints. */
export interface PageOptions {
  readonly limit: number;
  readonly skip: number;
}

/** Adds `--limit` and `--skip` to a command. */
export const addPageOptions = (command: Command): Command =>
  command
    .option('--limit <number>', 'maximum number of rows', parseRowLimit, 50)
    .option('--skip <number>', 'number of rows to leave out at the start', parseRowCount, 0);

/** Formats a table with the position of its page, if the list has more rows. `noun` is that of one row. */
export function formatPage(
  table: string,
  { skip, count, total }: { readonly skip: number; readonly count: number; readonly total: number },
  noun: string,
): string {
  if (count === 0) return `No ${noun}s.`;
  if (skip === 0 && count >= total) return table;
  const next = skip + count < total ? ` Pass --skip ${skip + count} for the next.` : '';
  return `${table}\n\nRows ${skip + 1} to ${skip + count} of ${formatCount(total, noun)}.${next}`;
}
