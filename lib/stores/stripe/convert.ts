import { type EpochMillis, secondMs } from '../../foundation/time.ts';

type OmitNullish<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

/** Copies a record without the members that are null or undefined. */
export const omitNullish = <T extends object>(record: T): OmitNullish<T> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  ) as OmitNullish<T>;

/** Converts Stripe's epoch seconds. */
export const toMillis = (seconds: number): EpochMillis => seconds * secondMs;

export const toOptionalMillis = (seconds: number | null | undefined): EpochMillis | undefined =>
  seconds === null || seconds === undefined ? undefined : toMillis(seconds);
