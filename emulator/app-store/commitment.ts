import { addPeriod } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { Commitment, Product } from './records.ts';

/** A commitment has twelve monthly billing periods. */
export const commitmentPeriods = 12;

/**
 * Starts the commitment of an order.
 *
 * @see https://developer.apple.com/documentation/storekit/supporting-monthly-subscriptions-with-a-12-month-commitment
 */
export function startCommitment(
  { commitment, trial, intro }: PurchaseOrder,
  { id, type, period }: Product,
  start: number,
): Commitment | undefined {
  if (!commitment) return undefined;
  if (type !== 'paid subscription' || period !== 'P1M')
    throw controlError(422, `commitment: ${id} is not a monthly subscription.`);
  if (trial || intro) throw controlError(422, 'commitment: offers of commitment plans are not emulated.');
  return createCommitment(start);
}

/** Returns a new commitment in its first billing period. It renews, even if an earlier one was canceled. */
export const createCommitment = (start: number): Commitment => buildCommitment(1, true, start);

/** Returns the commitment in the next billing period. After the last one, a new commitment starts. */
export const advanceCommitment = ({ billingPeriod, renews }: Commitment, start: number): Commitment =>
  buildCommitment((billingPeriod % commitmentPeriods) + 1, renews, start);

/** A period that starts late, after a failed payment, moves the end of the commitment. */
const buildCommitment = (billingPeriod: number, renews: boolean, start: number): Commitment => ({
  billingPeriod,
  renews,
  expiresDate: addPeriod(start, 'P1M', commitmentPeriods - billingPeriod + 1),
});

/** A cancelation takes effect after the current billing period. */
export const isLastPeriod = ({ billingPeriod }: Commitment): boolean => billingPeriod === commitmentPeriods;
