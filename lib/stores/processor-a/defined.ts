type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

/** The record without what is null or undefined. */
export const defined = <T extends object>(record: T): Defined<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null)) as Defined<T>;

/** Epoch seconds of the processor as epoch milliseconds. */
export const millis = (seconds: number): number => seconds * 1000;

/** The same of a moment that may be none. */
export const maybeMillis = (seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined ? undefined : millis(seconds);
