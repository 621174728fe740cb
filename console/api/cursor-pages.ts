/** A page of a list, or all rows of it that are loaded, newest first. */
export interface CursorPage<Row> {
  readonly rows: readonly Row[];
  /** Position of the next page. Absent at the end of the list. A page can have no rows and still have a cursor. */
  readonly nextCursor?: string | undefined;
  /** The page ends at a start date, so that the list continues behind it even without a cursor. */
  readonly isRecent?: boolean | undefined;
  /** Ids of the rows that the service leaves out, because their items are not readable. */
  readonly unreadableIds?: readonly string[] | undefined;
}

/** Pages that are requested without a click, to close a gap or to find a row. */
export const maxAutomaticPages = 5;

interface PagesOptions<Row> {
  /** Position of the first page. Without it, the newest one. */
  readonly cursor?: string | undefined;
  readonly isEnough: (rows: readonly Row[]) => boolean;
}

/** Requests pages until their rows are enough, a limited number. They are one page afterwards. */
export async function loadPages<Row>(
  loadPage: (cursor: string | undefined) => Promise<CursorPage<Row>>,
  { cursor, isEnough }: PagesOptions<Row>,
): Promise<CursorPage<Row>> {
  const rows: Row[] = [];
  const unreadableIds: string[] = [];
  let next = cursor;
  for (let count = 0; count < maxAutomaticPages; count++) {
    const page = await loadPage(next);
    rows.push(...page.rows);
    unreadableIds.push(...(page.unreadableIds ?? []));
    next = page.nextCursor;
    if (next === undefined || isEnough(rows)) break;
  }
  return { rows, nextCursor: next, ...(unreadableIds.length > 0 && { unreadableIds }) };
}

type GetId<Row> = (row: Row) => string;

/**
 * Returns whether rows can be missing between the newest page and the loaded rows. A page without rows has none that
 * are newer than the loaded rows.
 */
export function hasGap<Row>(loaded: CursorPage<Row>, newest: CursorPage<Row>, getId: GetId<Row>): boolean {
  if (newest.nextCursor === undefined || newest.rows.length === 0 || loaded.rows.length === 0) return false;
  const ids = new Set(loaded.rows.map(getId));
  return !newest.rows.some((row) => ids.has(getId(row)));
}

/**
 * Replaces the loaded rows of the range of the newest page. Keeps the older ones, including those that new rows have
 * pushed out of the page. Returns only the newest page if there is a gap behind it.
 */
export function addNewestPage<Row>(
  loaded: CursorPage<Row>,
  newest: CursorPage<Row>,
  getId: GetId<Row>,
): CursorPage<Row> {
  const { rows, nextCursor, isRecent } = newest;
  if (nextCursor === undefined && !isRecent) return newest;
  if (rows.length === 0) return loaded;
  if (loaded.rows.length === 0 || hasGap(loaded, newest, getId)) return { rows, nextCursor };
  const ids = new Set(rows.map(getId));
  const older = loaded.rows.slice(loaded.rows.findLastIndex((row) => ids.has(getId(row))) + 1);
  const merged = [...rows, ...older];
  // The loaded cursor can be behind entries without a row, which the newest page has not reached.
  const hasSameEnd = getLastId(merged, getId) === getLastId(loaded.rows, getId);
  return { rows: merged, nextCursor: hasSameEnd ? loaded.nextCursor : nextCursor };
}

const getLastId = <Row>(rows: readonly Row[], getId: GetId<Row>): string | undefined => {
  const last = rows.at(-1);
  return last && getId(last);
};

/** Appends the next page. Leaves out rows that are loaded. */
export function addOlderPage<Row>(loaded: CursorPage<Row>, page: CursorPage<Row>, getId: GetId<Row>): CursorPage<Row> {
  const ids = new Set(loaded.rows.map(getId));
  return {
    rows: [...loaded.rows, ...page.rows.filter((row) => !ids.has(getId(row)))],
    nextCursor: page.nextCursor,
  };
}
