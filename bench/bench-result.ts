/** A printed table. All rows have the same columns. */
export interface BenchResult {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}
