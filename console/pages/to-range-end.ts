/**
 * Returns the day after a day, because the service excludes the end of a range and users include it. Other text, such
 * as a time, is left to the service.
 */
export function toRangeEnd(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? text : new Date(time + 86_400_000).toISOString().slice(0, 10);
}
