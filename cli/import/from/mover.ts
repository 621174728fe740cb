import type { RawRow } from '../../../lib/import/parse-import-row.ts';

/** A record of a third-party export, by column. Missing columns are normal. */
export type ExportRecord = Readonly<Record<string, string | undefined>>;

/** A purchase of the export. Later records of the purchase replace earlier ones. */
export interface ExportedPurchase {
  /** The same for all records of a purchase. */
  readonly key: string;
  /** Order of the records of a purchase. The greatest is the latest. */
  readonly version: string;
  readonly move: Move;
}

/** Access without a purchase that a customer has at the other service. */
export interface MovedGrant {
  /** Id at the other service. */
  readonly id: string;
  readonly user: string;
  readonly entitlement: string;
  /** End in epoch milliseconds. Undefined for a grant without an end. */
  readonly until?: number;
}

/**
 * A row of an import, with the order that leads to its purchase token if it is missing, a grant, or the reason against
 * a move.
 */
export type Move =
  | { readonly grant: MovedGrant }
  | { readonly row: RawRow }
  | { readonly row: RawRow; readonly orderId: string }
  | { readonly id: string; readonly reason: string };

/** Reads the export of one service. */
export interface Mover {
  /** Columns of which the export must have one. */
  readonly requiredColumns: readonly string[];
  /** Returns undefined for a record without a purchase. */
  toPurchase(record: ExportRecord): ExportedPurchase | undefined;
}

/** Returns the value of the first column that the record has. */
export const pickColumn = (record: ExportRecord, ...columns: readonly string[]): string | undefined =>
  columns.map((column) => record[column]?.trim()).find((value) => value !== undefined && value !== '');
