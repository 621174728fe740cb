/** A printed table. All rows have the same columns. */
export interface BenchResult {
  /** Identifies the table in the results of its bench. Only benches whose results are saved have it. */
  readonly id?: string;
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}
