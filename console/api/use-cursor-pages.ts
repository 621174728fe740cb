import { useEffect, useRef, useState } from 'preact/hooks';
import { addNewestPage, addOlderPage, type CursorPage, hasGap, maxAutomaticPages } from './cursor-pages.ts';
import { useAction } from './use-api.ts';

interface CursorPagesOptions<Row> {
  /** The newest page, requested again and again. Undefined while it is loading. */
  readonly newest: CursorPage<Row> | undefined;
  readonly loadPage: (cursor: string) => Promise<CursorPage<Row>>;
  readonly getId: (row: Row) => string;
  /** Number of the newest rows that are kept; all by default. */
  readonly maxRows?: number;
}

/** The loaded rows of a list. */
export interface CursorPages<Row> {
  /** Newest first, without gaps. Undefined while the first page is loading. */
  readonly rows: readonly Row[] | undefined;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  readonly isLoadingOlder: boolean;
  readonly error: unknown;
}

/** Accumulates the rows of the newest page and of older pages, each once. */
export function useCursorPages<Row>(options: CursorPagesOptions<Row>): CursorPages<Row> {
  const { newest, loadPage, getId, maxRows = Number.POSITIVE_INFINITY } = options;
  const [loaded, setLoaded] = useState(newest);
  const latest = useRef({ loaded, ...options });
  latest.current = { loaded, ...options };
  useEffect(() => {
    if (!newest) return setLoaded(undefined);
    let isCurrent = true;
    const { current } = latest;
    closeGap(newest, current).then((page) => {
      if (!isCurrent) return;
      setLoaded((state) => {
        const { rows, ...merged } = state ? addNewestPage(state, page, current.getId) : page;
        return { ...merged, rows: rows.slice(0, maxRows) };
      });
    });
    return () => {
      isCurrent = false;
    };
  }, [newest, maxRows]);
  const { run, isRunning, error } = useAction(async (cursor: string) => {
    const page = await loadPage(cursor);
    setLoaded((state) => (state?.nextCursor === cursor ? addOlderPage(state, page, getId) : state));
  });
  const shown = newest && (loaded ?? newest);
  return {
    rows: shown?.rows,
    hasOlder: shown?.nextCursor !== undefined,
    loadOlder: async () => {
      if (shown?.nextCursor !== undefined) await run(shown.nextCursor);
    },
    isLoadingOlder: isRunning,
    error,
  };
}

/**
 * Extends the newest page until it reaches the loaded rows. Returns the page with the gap if that takes too many
 * requests.
 */
async function closeGap<Row>(
  newest: CursorPage<Row>,
  { loaded, loadPage, getId }: CursorPagesOptions<Row> & { readonly loaded: CursorPage<Row> | undefined },
): Promise<CursorPage<Row>> {
  let page = newest;
  for (let count = 0; count < maxAutomaticPages; count++) {
    if (!loaded || page.nextCursor === undefined || !hasGap(loaded, page, getId)) return page;
    try {
      page = addOlderPage(page, await loadPage(page.nextCursor), getId);
    } catch {
      return page;
    }
  }
  return page;
}

/**
 * Loads older pages while the loaded rows do not have what the page needs, a limited number for each `key`. Returns
 * whether it is still loading.
 */
export function useAutomaticPages<Row>(
  { hasOlder, loadOlder, isLoadingOlder, error }: CursorPages<Row>,
  isNeeded: boolean,
  key = '',
): boolean {
  const progress = useRef({ key, pages: 0 });
  if (progress.current.key !== key) progress.current = { key, pages: 0 };
  const latestLoad = useRef(loadOlder);
  latestLoad.current = loadOlder;
  const isPossible = isNeeded && hasOlder && error === undefined;
  useEffect(() => {
    if (!isPossible || isLoadingOlder || progress.current.pages >= maxAutomaticPages) return;
    progress.current.pages += 1;
    latestLoad.current();
  }, [isPossible, isLoadingOlder, key]);
  return isPossible && (isLoadingOlder || progress.current.pages < maxAutomaticPages);
}
