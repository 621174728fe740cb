/** Returns the middle value; NaN without values. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Returns the smallest value that is not less than a share of all values. NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = percent === 50 ? Math.floor(sorted.length / 2) : Math.ceil((percent / 100) * sorted.length) - 1;
  return sorted[Math.max(0, rank)] ?? Number.NaN;
}

/** An interval that contains the median of the distribution with the given confidence. */
export interface MedianInterval {
  readonly low: number;
  readonly high: number;
}

/**
 * Computes the interval of the median by order statistics, without an assumption about the distribution: the number of
 * values below the median is binomial. Returns the narrowest symmetric interval with at least this confidence.
 * @see https://en.wikipedia.org/wiki/Median#Confidence_intervals
 */
export function computeMedianInterval(values: readonly number[], confidence = 0.9): MedianInterval {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let tail = 0;
  let probability = 0.5 ** count;
  let rank = 0;
  // The probability that fewer than `rank` values are below the median must stay within half of the error.
  while (tail + probability <= (1 - confidence) / 2) {
    tail += probability;
    probability *= (count - rank) / (rank + 1);
    rank += 1;
  }
  return { low: sorted[Math.max(0, rank - 1)] ?? Number.NaN, high: sorted[count - Math.max(1, rank)] ?? Number.NaN };
}
