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
