import type { EpochMillis } from '../foundation/time.ts';

/** How current data from a store is. */
export interface AsOf {
  /** Time on the store's clock up to which the data is complete. */
  readonly asOf: EpochMillis;
  /** Data that the store reports takes precedence over inferred data, regardless of its time. */
  readonly isInferred?: true | undefined;
}

/**
 * Returns a positive number if `a` is more current than `b`, a negative one if it is less current, and 0 if neither is.
 */
export const compareAsOf = (a: AsOf, b: AsOf): number =>
  Number(b.isInferred === true) - Number(a.isInferred === true) || a.asOf - b.asOf;
