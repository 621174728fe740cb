type OmitNullish<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

/** The record without what is null or undefined. */
export const omitNullish = <T extends object>(record: T): OmitNullish<T> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  ) as OmitNullish<T>;

/** Epoch seconds of the processor as epoch milliseconds. */
export const toMillis = (seconds: number): number => seconds * 1000;

/** The same of a moment that may be none. */
export const toOptionalMillis = (seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined ? undefined : toMillis(seconds);
