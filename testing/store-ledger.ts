import { sum } from '../lib/foundation/collections.ts';
import type { PurchaseSummary } from './purchase-summary.ts';

/** Money of a purchase according to the store's own records, in micros of US dollars. */
export interface LedgerEntry {
  readonly paidMicros: number;
  /** Refunds, and funds that disputes have withdrawn. */
  readonly returnedMicros: number;
}

/** Reads the payments of a purchase from the store. Undefined if the control API of the emulated store lacks them. */
export function readLedger(summary: PurchaseSummary): LedgerEntry | undefined {
  const { paidMicros } = summary;
  return paidMicros === undefined
    ? undefined
    : { paidMicros, returnedMicros: Math.min(paidMicros, sumReturned(summary)) };
}

/** Sums what came back to the customer. A dispute after a full refund returns nothing more of the payment. */
export function sumReturned({ refundedMicros = 0, disputedMicros = 0, payments = [] }: PurchaseSummary): number {
  const excess = payments.map((payment: PurchaseSummary) =>
    Math.max(0, sumRefunds(payment) + sumDisputed(payment) - payment.amountMicros),
  );
  return refundedMicros + disputedMicros - sum(excess);
}

const sumRefunds = ({ refunds = [] }: PurchaseSummary): number =>
  sum(refunds.map(({ amountMicros }: PurchaseSummary) => amountMicros));

function sumDisputed({ amountMicros, dispute, disputes = [] }: PurchaseSummary): number {
  const balances = disputes.flatMap((each: PurchaseSummary) => each.balances);
  const withdrawn = -sum(balances.map((balance: PurchaseSummary) => balance.amountMicros));
  return dispute && dispute.status !== 'won' ? amountMicros : withdrawn;
}

/** Adds up the entries. */
export const sumLedger = (entries: readonly LedgerEntry[]): LedgerEntry =>
  entries.reduce(
    (sum, { paidMicros, returnedMicros }) => ({
      paidMicros: sum.paidMicros + paidMicros,
      returnedMicros: sum.returnedMicros + returnedMicros,
    }),
    { paidMicros: 0, returnedMicros: 0 },
  );
