/** A printed table. All rows have the same columns. */
export interface BenchResult {
  /** Identifies the table for the documents that quote it. */
  readonly id?: string;
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}
