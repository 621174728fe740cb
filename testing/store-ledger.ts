import type { PurchaseSummary } from './purchase-summary.ts';

/** Money of a purchase according to the store's own records, in micros of US dollars. */
export interface LedgerEntry {
  readonly paidMicros: number;
  /** Refunds, and funds that disputes have withdrawn. */
  readonly returnedMicros: number;
}

/** Reads the payments of a purchase from the store. Undefined if the control API of the emulated store lacks them. */
export const readLedger = ({
  paidMicros,
  refundedMicros,
  disputedMicros = 0,
}: PurchaseSummary): LedgerEntry | undefined =>
  paidMicros === undefined
    ? undefined
    : { paidMicros, returnedMicros: Math.min(paidMicros, refundedMicros + disputedMicros) };

/** Adds up the entries. */
export const sumLedger = (entries: readonly LedgerEntry[]): LedgerEntry =>
  entries.reduce(
    (sum, { paidMicros, returnedMicros }) => ({
      paidMicros: sum.paidMicros + paidMicros,
      returnedMicros: sum.returnedMicros + returnedMicros,
    }),
    { paidMicros: 0, returnedMicros: 0 },
  );
