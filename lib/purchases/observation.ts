import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from './purchase.ts';
import type { Transaction } from './transaction.ts';

/** The content of one store response or signed document about a purchase. */
export interface Observation {
  /**
   * Time on the store's clock up to which the observation is complete: the time of the response or of the signed state.
   * For signed evidence of one transaction it is the date of that transaction, because a later signature adds no
   * information.
   */
  readonly asOf: EpochMillis;
  /** Inferred from evidence without a state: every state that the store reports is more current. */
  readonly isInferred?: true;
  /**
   * As-of time of the transactions, which the store reports. Defaults to `asOf` of the state. It differs for the refund
   * of a past period, which does not describe the current state.
   */
  readonly transactionsAsOf?: EpochMillis;
  /** Every transaction that the store reports is more current than an inferred one. */
  readonly hasInferredTransactions?: true;
  /**
   * The observation can describe a past part of the history, such as a single signed transaction. The state after a
   * later transaction then takes precedence over a later as-of time, and `lastRenewalDate` is derived from all
   * transactions. Requires final purchase dates of the transactions.
   */
  readonly isOrderedByTransaction?: true;
  readonly purchase: Purchase;
  /** The store does not report the end of the subscription. Also applies to a non-renewing one without expiration. */
  readonly hasUnknownEnd?: true;
  /** The transactions in the response, in no particular order. */
  readonly transactions: readonly Transaction[];
  /** The user aliases in the response, such as `appAccountToken` or an obfuscated account id. */
  readonly userAliases: readonly string[];
  /**
   * The user of this service's checkout that sold the purchase. Claims the purchase, even if the customer is new. Must
   * come from data that neither the buyer nor an API client can write.
   */
  readonly checkoutUsername?: string;
  /** The purchase that this one replaces, for example after a plan change in Google Play. Its claims are copied. */
  readonly replacedPurchaseId?: string;
  /** A purchase of the same buyer, such as another item of one subscription. A new purchase starts with its claims. */
  readonly relatedPurchaseId?: string;
  /** Data for a refresh, stored encrypted. Undefined if the store cannot be queried for the purchase. */
  readonly refreshToken?: Readonly<Record<string, string>>;
}
