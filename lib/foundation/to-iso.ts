import { type EpochMillis, toIsoSeconds } from './time.ts';

/** Formats a date as `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const toIso = (date: EpochMillis): string => new Date(date).toISOString();

export const toNullableIso = (date: EpochMillis | undefined): string | null =>
  date === undefined ? null : toIso(date);

export const toNullableIsoSeconds = (date: EpochMillis | undefined): string | null =>
  date === undefined ? null : toIsoSeconds(date);
