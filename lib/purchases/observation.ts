import type { EpochMillis } from '../shared/time.ts';
import type { Purchase } from './purchase.ts';
import type { Transaction } from './transaction.ts';

/** One look at a purchase: what a store, or evidence that it signed, says of it. */
export interface Observation {
  /**
   * The moment on the store's clock up to which this look knows the purchase: the time of a read or of a signed state;
   * for signed evidence of a transaction alone, the date of that transaction (a later signature adds no knowledge).
   */
  readonly asOf: EpochMillis;
  /**
   * The moment up to which its transactions are known, where that is another than that of the state: the refund of a past period
   * says nothing of the present one; or by `guessedAsOf`, where the store did not tell them.
   */
  readonly transactionsAsOf?: EpochMillis;
  readonly purchase: Purchase;
  /** Every transaction that this look shows, in no order. */
  readonly transactions: readonly Transaction[];
  /** The forms in which the store echoes the application's user (`appAccountToken`, obfuscated account ids). */
  readonly userAliases: readonly string[];
  /** The purchase that this one replaces (a new purchase token after a plan change): its users come along. */
  readonly replacedPurchaseId?: string;
  /** What asking the store again needs; absent when it cannot be asked. Kept encrypted. */
  readonly refreshToken?: Readonly<Record<string, string>>;
}
