import type { CancelationReason, PriceConsentStatus, RenewalIntent } from '../../api/schemas.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import type { ValidationRequest } from '../store.ts';

/** A transaction of the App Store, from a JWS, a receipt or a response of verifyReceipt. Ids are without prefix. */
export interface StoreTransaction {
  /** The first transaction of the sale, if it is known. */
  readonly transactionId: string;
  /** The sale: see `mergeSales`. Undefined if its transaction has only one id. */
  readonly saleId?: string;
  /** Further transaction ids of the sale. */
  readonly otherIds?: readonly string[];
  /**
   * Id of the first transaction. All renewals and plan changes of a subscription share it.
   * @see https://developer.apple.com/documentation/appstoreserverapi/originaltransactionid
   */
  readonly originalTransactionId: string;
  readonly productId: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly subscriptionGroupId?: string;
  readonly sandbox: boolean;
  readonly purchaseDate: EpochMillis;
  readonly originalPurchaseDate?: EpochMillis;
  readonly expiresDate?: EpochMillis;
  /** Date at which a refund or the revocation of a shared purchase ended access. */
  readonly revokedAt?: EpochMillis;
  readonly revocationReason?: CancelationReason;
  /** Date of the full refund. */
  readonly refundedAt?: EpochMillis;
  readonly partialRefunds?: readonly PartialRefund[];
  /** Other transactions represent the same period, because seats were added. */
  readonly sharesPeriod?: boolean;
  /** Apple states that it renews the subscription. */
  readonly isRenewal?: boolean;
  /** It pays for seats that were added to a period. */
  readonly isSeatAddition?: boolean;
  readonly revokedSeats?: number;
  /** The transaction was replaced by another product of its group at this date or earlier. */
  readonly replacedAt?: EpochMillis;
  readonly isTrial?: boolean;
  readonly isIntro?: boolean;
  /** Each customer gets the introductory offer once per subscription group. */
  readonly usedIntroOffer: boolean;
  readonly offerId?: string;
  /** `offerId` unless the offer is introductory. */
  readonly discountId?: string;
  /** Units or seats that were bought. */
  readonly quantity?: number;
  /** ISO 4217 code. */
  readonly currency?: string;
  /** Payment for the whole quantity, in millionths of `currency`. */
  readonly amountMicros?: number;
  /** The customer got it by Family Sharing or as an assigned seat. */
  readonly isShared?: boolean;
  /** `appAccountToken`, the UUID that the app set for the customer. */
  readonly userAlias?: string;
  /** Id of the store account in the app. Each family member has another one. */
  readonly appTransactionId?: string;
  /** Three letters of the country, such as `USA`. */
  readonly storefront?: string;
  /** A number, to which Apple can add others. */
  readonly offerType?: string;
  readonly offerPeriod?: string;
  /** Signing date. Undefined in responses of verifyReceipt. */
  readonly signedAt?: EpochMillis;
  /** The unchanged data of Apple. */
  readonly native: Readonly<Record<string, unknown>>;
}

/**
 * Values of the subscription status.
 * @see https://developer.apple.com/documentation/appstoreserverapi/status
 */
export const subscriptionStatuses = { active: 1, expired: 2, billingRetry: 3, gracePeriod: 4, revoked: 5 } as const;

/** The state of a subscription that its transactions do not contain. */
export interface SubscriptionStatus {
  /** A value of `subscriptionStatuses`. Apple can add further values. */
  readonly status: number;
  /** The transaction that the status refers to. */
  readonly transaction: StoreTransaction;
  /** Signing date of the renewal information. Undefined in responses of verifyReceipt. */
  readonly signedAt?: EpochMillis;
  readonly renewalIntent?: RenewalIntent;
  /** Apple bills until the end of a commitment, although the customer has canceled it. */
  readonly isCommitted?: boolean;
  /** Product of the next renewal. */
  readonly renewalProductId?: string;
  /**
   * End of the billing grace period, in which the customer keeps access.
   * @see https://developer.apple.com/documentation/appstoreserverapi/graceperiodexpiresdate
   */
  readonly graceEndsAt?: EpochMillis;
  readonly expirationReason?: CancelationReason;
  readonly priceConsentStatus?: PriceConsentStatus;
  readonly userAlias?: string;
}

/**
 * Compares the purchase dates. If they are equal, active transactions are later, then those with a later expiration
 * date.
 */
export function isLaterTransaction(a: StoreTransaction, b: StoreTransaction): boolean {
  if (a.purchaseDate !== b.purchaseDate) return a.purchaseDate > b.purchaseDate;
  if (isActiveTransaction(a) !== isActiveTransaction(b)) return isActiveTransaction(a);
  return (a.expiresDate ?? 0) > (b.expiresDate ?? 0);
}

const isActiveTransaction = ({ revokedAt, replacedAt }: StoreTransaction): boolean =>
  revokedAt === undefined && replacedAt === undefined;

export const findLatestTransaction = (
  transactions: readonly [StoreTransaction, ...StoreTransaction[]],
): StoreTransaction =>
  transactions.reduce((latest, candidate) => (isLaterTransaction(candidate, latest) ? candidate : latest));

/**
 * Lists the products whose introductory price the store account has used, by their ids without prefix. One introductory
 * offer counts for all products of the subscription group: those that were bought, and those in the request.
 * @see https://developer.apple.com/documentation/appstoreserverapi/offertype
 */
export function listIneligibleForIntroPrice(
  transactions: readonly StoreTransaction[],
  products: ValidationRequest['products'] = [],
): string[] {
  const withIntroOffer = transactions.filter(({ usedIntroOffer }) => usedIntroOffer);
  const groupIds = new Set(withIntroOffer.flatMap(({ subscriptionGroupId }) => subscriptionGroupId ?? []));
  const ineligible = transactions.filter(
    ({ usedIntroOffer, subscriptionGroupId }) =>
      usedIntroOffer || (subscriptionGroupId !== undefined && groupIds.has(subscriptionGroupId)),
  );
  const requested = products.filter(({ group }) => group !== undefined && groupIds.has(group));
  return [...new Set([...ineligible.map(({ productId }) => productId), ...requested.map(({ id }) => id)])];
}
