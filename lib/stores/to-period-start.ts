import { type EpochMillis, hourMs } from '../foundation/time.ts';

/** Returns the start of a paid period if the payment was made more than an hour earlier or later. */
export const toPeriodStart = (start: EpochMillis | undefined, purchaseDate: EpochMillis): EpochMillis | undefined =>
  start !== undefined && Math.abs(start - purchaseDate) > hourMs ? start : undefined;
