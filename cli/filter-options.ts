import { type Command, InvalidArgumentError } from 'commander';
import type { Platform } from '../lib/foundation/platform.ts';
import type { CursorPage } from '../lib/foundation/read-cursor-page.ts';
import { formatCount } from './format.ts';
import { parseStore } from './option-parsers.ts';
import type { PageOptions } from './paging-options.ts';

/** The options that filter customers and transactions alike. */
export interface FilterOptions extends PageOptions {
  readonly store?: Platform;
  readonly product?: string;
  readonly sandbox: boolean;
  readonly cursor?: string;
}

/** Adds `--store`, `--product`, `--no-sandbox` and `--cursor` to a command. */
export const addFilterOptions = (command: Command): Command =>
  command
    .option('--store <store>', 'rows of a store', parseStore)
    .option('--product <id>', 'rows of a product')
    .option('--no-sandbox', "leave out the rows of the stores' sandboxes")
    .option('--cursor <text>', 'with a filter: position of the next page, as the page before prints it');

/** Returns the part of a filter that customers and transactions share. */
export const toFilter = ({ store, product, sandbox }: FilterOptions) => ({
  platform: store,
  productId: product,
  isSandbox: sandbox ? undefined : false,
});

/** A filter or a position in a filtered list is set. Throws if `--skip` is, too. */
export function isFiltered({ store, product, sandbox, cursor, skip }: FilterOptions, ...further: unknown[]): boolean {
  const hasFilter = !sandbox || [store, product, cursor, ...further].some((option) => option !== undefined);
  if (hasFilter && skip > 0) throw new InvalidArgumentError('Pass --cursor instead of --skip with a filter.');
  return hasFilter;
}

/** Reads pages until there are `limit` rows or the list ends: a page reads a limited number of entries. */
export async function readMatches<T>(
  { limit, cursor }: Pick<FilterOptions, 'limit' | 'cursor'>,
  readPage: (page: { readonly limit: number; readonly cursor: string | undefined }) => Promise<CursorPage<T>>,
): Promise<CursorPage<T>> {
  const rows: T[] = [];
  let next = cursor;
  do {
    const page = await readPage({ limit: limit - rows.length, cursor: next });
    rows.push(...page.rows);
    next = page.next;
  } while (next !== undefined && rows.length < limit);
  return { rows, ...(next !== undefined && { next }) };
}

/** Formats a table of matches with the position of the next page. `noun` is that of one row. */
export function formatMatches(table: string, { rows, next }: CursorPage<unknown>, noun: string): string {
  if (rows.length === 0) return `No ${noun}s match.`;
  return next === undefined
    ? table
    : `${table}\n\n${formatCount(rows.length, noun)}. Pass --cursor ${next} for the next.`;
}
