import type { EpochMillis } from '../lib/foundation/time.ts';

/** Formats a count with its noun, such as `1 purchase` or `20,000 purchases`. */
export const formatCount = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? singular : plural}`;

/** Formats a time as a day, such as `2026-01-31` (UTC). */
export const formatDay = (time: EpochMillis): string => new Date(time).toISOString().slice(0, 10);

/** Formats a time to the second, such as `2026-01-31T10:00:00Z`. */
export const formatTime = (time: EpochMillis): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');
