/** A printed table. All rows have the same columns. */
export interface BenchResult {
  /** Identifies the table in the results of its bench. Only tables that docs/performance.md quotes have one. */
  readonly id?: string;
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}
