/** A point of a measured series. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Fits a line by least squares. Returns its slope; NaN if all points have the same `x`. */
export function fitSlope(points: readonly Point[]): number {
  const mean = (read: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const variance = mean(({ x }) => (x - meanX) ** 2);
  return variance === 0 ? Number.NaN : mean(({ x, y }) => (x - meanX) * (y - meanY)) / variance;
}
