import { type Loaded, useLoad } from './use-api.ts';

interface PageQuery {
  readonly skip: number;
  readonly limit: number;
}

interface OldestFirstPage<Row> {
  /** The total is approximate: the service counts new rows after a delay. */
  readonly paging: { readonly total: number };
  readonly rows: readonly Row[];
}

interface NewestFirstOptions<Row> extends PageQuery {
  /** Identifies the list, with its filters. */
  readonly list: string;
  /** Requests a page, oldest row first. */
  readonly getPage: (page: PageQuery, signal: AbortSignal) => Promise<OldestFirstPage<Row>>;
}

interface NewestFirstPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Maximum number of new rows that the total does not include. */
const maxUncountedRows = 50;

/** Loads a page with the newest row first. The service returns the list with the oldest row first. */
export function useNewestFirst<Row>({
  list,
  getPage,
  skip,
  limit,
}: NewestFirstOptions<Row>): Loaded<NewestFirstPage<Row>> {
  const load = async (signal: AbortSignal) =>
    await loadNewestFirst(async (page) => await getPage(page, signal), { skip, limit });
  return useLoad(load, JSON.stringify([list, skip, limit]), { identity: list });
}

/** Computes the position of the page from the total, then requests it. */
async function loadNewestFirst<Row>(
  getPage: (page: PageQuery) => Promise<OldestFirstPage<Row>>,
  { skip, limit }: PageQuery,
): Promise<NewestFirstPage<Row>> {
  const { total } = (await getPage({ skip: 0, limit: 1 })).paging;
  const end = Math.max(0, total - skip);
  const start = Math.max(0, end - limit);
  const uncounted = skip === 0 ? maxUncountedRows : 0;
  const count = end - start + uncounted;
  if (count === 0) return { rows: [], total };
  const { rows } = await getPage({ skip: start, limit: count });
  return { rows: rows.slice(-limit).reverse(), total: Math.max(total, start + rows.length) };
}
