import { toSortableTimestamp } from '../foundation/key.ts';

/** An entry of a timeline. Entries of one time sort by kind, then by id. */
export interface TimelineKey {
  readonly date: string;
  /** One letter. */
  readonly kind: string;
  readonly id: string;
}

/** Formats a key as text that sorts like the entries. */
export const formatTimelineKey = ({ date, kind, id }: TimelineKey): string => `${date}#${kind}#${id}`;

export const createTimelineKey = (kind: string, date: number, id: string): string =>
  formatTimelineKey({ kind, date: toSortableTimestamp(date), id });

/** Parses a cursor. Returns undefined if it is not the key of an entry. */
export function parseTimelineKey(cursor: string): TimelineKey | undefined {
  const [, date, kind, id] = /^(\d{13})#([A-Z])#(.*)$/s.exec(cursor) ?? [];
  return date !== undefined && kind !== undefined && id !== undefined ? { date, kind, id } : undefined;
}

/**
 * Returns the bound of the sort keys `<date>#<id>` of one kind that are older than the position. The bound itself is
 * excluded.
 */
export function toKindBound(kind: string, position: TimelineKey | undefined): string {
  // After every date.
  if (!position) return ':';
  if (kind === position.kind) return `${position.date}#${position.id}`;
  // `$` sorts after `#`: all entries of the date. Without it, the date sorts before its entries.
  return kind < position.kind ? `${position.date}$` : position.date;
}

export interface TimelineEntry<T> {
  readonly key: string;
  readonly row: T;
}

/** The next entries of one source, newest first. */
export interface TimelineSlice<T> {
  readonly entries: readonly TimelineEntry<T>[];
  /** Key of the last entry that was read. Undefined at the end of the source. */
  readonly readTo?: string | undefined;
}

/** Merges the slices of all sources to one page of at most `limit` rows, newest first. */
export function mergeTimeline<T>(
  slices: readonly TimelineSlice<T>[],
  limit: number,
): { readonly rows: readonly T[]; readonly next?: string } {
  const unread = slices.flatMap(({ readTo }) => readTo ?? []);
  // Below this key, a source can have entries that were not read.
  const floor = unread.toSorted().at(-1);
  const merged = slices
    .flatMap(({ entries }) => entries)
    .filter(({ key }) => floor === undefined || key >= floor)
    .sort((a, b) => (a.key < b.key ? 1 : -1));
  const page = merged.slice(0, limit);
  const next = merged.length > limit ? page.at(-1)?.key : floor;
  return { rows: page.map(({ row }) => row), ...(next !== undefined && { next }) };
}
