/**
 * Returns the day after a day, because the service excludes the end of a range and users include it. Text that is not a day is
 * left to the service to reject.
 */
export function toRangeEnd(day: string): string {
  const time = Date.parse(day);
  return Number.isNaN(time) ? day : new Date(time + 86_400_000).toISOString().slice(0, 10);
}
