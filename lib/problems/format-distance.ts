const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** Formats a distance from now in milliseconds, such as `3 days ago`. */
export function formatDistance(distanceMs: number, locales: readonly string[]): string {
  const [unit, ms] = units.find(([, size]) => Math.abs(distanceMs) >= size) ?? (['second', 1_000] as const);
  return new Intl.RelativeTimeFormat([...locales], { numeric: 'auto' }).format(Math.round(distanceMs / ms), unit);
}
