import type { EpochMillis } from './time.ts';

/** Range from `startdate` (included) to `enddate` (excluded). Each defaults to no bound. */
export interface DateRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

/** A page by position. Contains the rows that were created in a range. */
export interface PageRequest extends DateRange {
  readonly skip: number;
  readonly limit: number;
  readonly now: EpochMillis;
}

export interface ListPage<Row> {
  /** In creation order, oldest first. */
  readonly rows: Row[];
  /** Number of rows in the range. */
  readonly total: number;
}

/** A page of the rows that match a filter. */
export interface RowSearch<Row> extends DateRange {
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  /** Position after the last row of the previous page. */
  readonly cursor?: string | undefined;
  /** Maximum number of rows to read, so that a page can have fewer rows than `limit` and still have a next one. */
  readonly maxScanned: number;
  readonly matches: (row: Row) => boolean | Promise<boolean>;
}
