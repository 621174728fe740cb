/** Requests of one key that are accepted for an unlimited time. Far above the average of ten million subscribers. */
export const defaultRequestsPerSecond = 200;

/** Below it, the bucket of an address would be smaller than a report. */
export const minRequestsPerSecond = 50;

/** Maximum that an app can set. */
export const maxRequestsPerSecond = 100_000;
