import type { CancelationReason, PriceConsentStatus, RenewalIntent } from '../../api/enumerations.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { EpochMillis } from '../../shared/time.ts';

/** A transaction in whichever form Apple told of it: signed, in a receipt, or in an answer of verifyReceipt. */
export interface StoreTransaction {
  readonly transactionId: string;
  /** The id of the first transaction, which a subscription keeps through every renewal and plan. */
  readonly originalTransactionId: string;
  readonly productId: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly subscriptionGroupId?: string;
  readonly sandbox: boolean;
  readonly purchaseDate: EpochMillis;
  readonly originalPurchaseDate?: EpochMillis;
  readonly expiresDate?: EpochMillis;
  /** When it was refunded, or taken from a family member. */
  readonly revokedAt?: EpochMillis;
  readonly revocation?: CancelationReason;
  /** The latest moment at which another product of the group replaced it. */
  readonly replacedAt?: EpochMillis;
  readonly isTrial?: boolean;
  readonly isIntro?: boolean;
  /** Whether it used the introductory offer that each customer gets once in a subscription group. */
  readonly usedIntroOffer: boolean;
  readonly offerId?: string;
  /** The offer again, when it is a discount and not the introductory one. */
  readonly discountId?: string;
  readonly quantity?: number;
  readonly currency?: string;
  readonly amountMicros?: number;
  readonly isShared?: boolean;
  readonly userToken?: string;
  /** When Apple signed it; unknown for what verifyReceipt tells. */
  readonly signedAt?: EpochMillis;
  readonly native: Readonly<Record<string, unknown>>;
}

/** What Apple says of a subscription beside its transactions. */
export interface SubscriptionStatus {
  /** 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked; others may come. */
  readonly status: number;
  /** The transaction that the status speaks of. */
  readonly transaction: StoreTransaction;
  /** When Apple signed the outlook; unknown for what verifyReceipt tells. */
  readonly signedAt?: EpochMillis;
  readonly renewalIntent?: RenewalIntent;
  /** The product of the next renewal. */
  readonly renewalProductId?: string;
  readonly graceEndsAt?: EpochMillis;
  readonly expirationReason?: CancelationReason;
  readonly priceConsentStatus?: PriceConsentStatus;
  readonly userToken?: string;
}

/** By purchase date; of two equal ones, what is still in force counts as the later, then what lasts longer. */
export function isLaterTransaction(transaction: StoreTransaction, other: StoreTransaction): boolean {
  if (transaction.purchaseDate !== other.purchaseDate) return transaction.purchaseDate > other.purchaseDate;
  if (isActiveTransaction(transaction) !== isActiveTransaction(other)) return isActiveTransaction(transaction);
  return (transaction.expiresDate ?? 0) > (other.expiresDate ?? 0);
}

const isActiveTransaction = ({ revokedAt, replacedAt }: StoreTransaction): boolean =>
  revokedAt === undefined && replacedAt === undefined;

/** The latest transaction. */
export const findLatestTransaction = (
  transactions: readonly [StoreTransaction, ...StoreTransaction[]],
): StoreTransaction =>
  transactions.reduce((latest, candidate) => (isLaterTransaction(candidate, latest) ? candidate : latest));
