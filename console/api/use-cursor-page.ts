import { type CursorPage, loadPages } from './cursor-pages.ts';
import { type Loaded, useLoad } from './use-api.ts';

export type LoadPage<Row> = (
  page: { readonly cursor: string | undefined; readonly limit: number },
  signal: AbortSignal,
) => Promise<CursorPage<Row>>;

interface CursorPageOptions<Row> {
  /** Identifies the list with its filters. */
  readonly list: string;
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly loadPage: LoadPage<Row>;
}

/** Loads the page of a list at a cursor. A page of few matching rows is followed by others, a limited number. */
export function useCursorPage<Row>({ list, cursor, limit, loadPage }: CursorPageOptions<Row>): Loaded<CursorPage<Row>> {
  const load = async (signal: AbortSignal) =>
    await loadPages(async (next) => await loadPage({ cursor: next, limit }, signal), {
      cursor,
      isEnough: (rows) => rows.length >= limit,
    });
  return useLoad(load, JSON.stringify([list, cursor]), { identity: list });
}
