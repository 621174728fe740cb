import * as v from 'valibot';
import { addPeriod, Period } from './calendar.ts';

/**
 * Start of a series of periods. The current period ends `periods` periods after `date`, so a monthly series that starts
 * on the 31st keeps its day.
 */
export const BillingAnchor = v.object({ date: v.number(), period: Period, periods: v.number() });
export type BillingAnchor = v.InferOutput<typeof BillingAnchor>;

/** Starts a series with its first period. */
export const createAnchor = (date: number, period: Period): BillingAnchor => ({ date, period, periods: 1 });

/** Returns the end of the current period of the series, in epoch milliseconds. */
export const getPeriodEnd = ({ date, period, periods }: BillingAnchor): number => addPeriod(date, period, periods);

/** Returns the anchor of the next period. A gap before `start` or another length starts a new series. */
export function advanceAnchor(anchor: BillingAnchor, period: Period, start = getPeriodEnd(anchor)): BillingAnchor {
  const continues = anchor.period === period && getPeriodEnd(anchor) === start;
  return continues ? { ...anchor, periods: anchor.periods + 1 } : createAnchor(start, period);
}
