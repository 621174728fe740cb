/**
 * Splits an amount in proportion to weights, in whole units. The parts add up to the amount: the largest remainders get
 * the units that rounding leaves, the first of equal ones. Without a positive weight, the first part is everything.
 */
export function splitAmount(amount: number, weights: readonly number[], unit = 1): number[] {
  const positive = weights.map((weight) => Math.max(0, weight));
  const total = positive.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return weights.map((_weight, index) => (index === 0 ? amount : 0));
  const units = amount / unit;
  const exact = positive.map((weight) => (units * weight) / total);
  const parts = exact.map(Math.floor);
  const missing = Math.round(units - parts.reduce((sum, part) => sum + part, 0));
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index)
    .slice(0, missing);
  for (const { index } of byRemainder) parts[index] = (parts[index] ?? 0) + 1;
  return parts.map((part) => part * unit);
}
