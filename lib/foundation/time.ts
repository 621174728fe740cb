/** A time in milliseconds since the Unix epoch. Durations are plain numbers whose names end in `Ms`. */
export type EpochMillis = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Returns the delay after a number of consecutive failures: `firstMs` after the first one, then twice as long. */
export const computeBackoffMs = (
  failures: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): number => Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 20));

/** Formats a date as `YYYY-MM-DDTHH:MM:SS.000Z`. Clients compare dates as text, and some accept whole seconds only. */
export const toIsoSeconds = (date: EpochMillis): string => `${new Date(date).toISOString().slice(0, 19)}.000Z`;

/** Formats a date as `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const toIso = (date: EpochMillis): string => new Date(date).toISOString();

export const toNullableIso = (date: EpochMillis | undefined): string | null =>
  date === undefined ? null : toIso(date);

export const toNullableIsoSeconds = (date: EpochMillis | undefined): string | null =>
  date === undefined ? null : toIsoSeconds(date);
