/** A time in milliseconds since the Unix epoch. Durations are plain numbers whose names end in `Ms`. */
export type EpochMillis = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
