import type { MrrRow } from '../../../lib/statistics/mrr-contract.ts';

/** Returns the change of the MRR in an interval. */
export const readNet = ({ movement }: MrrRow): number =>
  movement.new +
  movement.expansion +
  movement.reactivated -
  movement.contraction -
  movement.churned +
  movement.exchange;
