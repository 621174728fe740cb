/** What a measurement prints: a title and rows of equal columns. */
export interface BenchResult {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}
