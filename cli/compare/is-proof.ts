import type { CompareReport } from './run-compare.ts';

/** A comparison without a difference is a proof if it compared something, and all rows that can be compared. */
export const isProof = ({ compared, notCompared, interrupted }: CompareReport): boolean =>
  compared > 0 && !interrupted && notCompared.every(({ isExcluded }) => isExcluded);
