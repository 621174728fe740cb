/** A page of a list with the position from which the next page continues. */
export interface CursorPage<T> {
  readonly rows: readonly T[];
  /** Sort key of the last entry that was read. Undefined at the end of the list. */
  readonly next?: string;
}
