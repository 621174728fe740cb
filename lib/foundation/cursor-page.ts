/** A page of a list with the position from which the next page continues. */
export interface CursorPage<T> {
  readonly rows: readonly T[];
  /** Sort key of the last entry that was read. Undefined if the list has no other entry. */
  readonly next?: string;
}
