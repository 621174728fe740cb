import type { CancelationReason, RenewalIntent } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { RenewalPayload, TransactionPayload } from './payloads.ts';
import { toSaleFields } from './sales.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import {
  countRevokedSeats,
  findRevocationDate,
  isSharedOwnership,
  toAmountMicros,
  toRefundFields,
} from './transaction-refunds.ts';

/** @see https://developer.apple.com/documentation/appstoreserverapi/type */
const productTypes: Readonly<Record<string, NonNullable<Purchase['productType']>>> = {
  'Auto-Renewable Subscription': 'paid subscription',
  'Non-Renewing Subscription': 'non renewing subscription',
  Consumable: 'consumable',
  'Non-Consumable': 'non consumable',
};

/** @see https://developer.apple.com/documentation/appstoreserverapi/offertype */
const introductoryOffer = 1;

/**
 * Values of `revocationReason`.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationreason
 */
export const refundReasons: Readonly<Record<number | string, CancelationReason>> = {
  0: 'Customer.OtherReason',
  1: 'Customer.TechnicalIssues',
};

/**
 * Values of `expirationIntent`.
 * @see https://developer.apple.com/documentation/appstoreserverapi/expirationintent
 */
export const expirationReasons: Readonly<Record<number | string, CancelationReason>> = {
  1: 'Customer',
  2: 'System.BillingError',
  3: 'Customer.PriceIncrease',
  4: 'System.ProductUnavailable',
};

type SeatFields = Pick<StoreTransaction, 'sharesPeriod' | 'isSeatAddition' | 'revokedSeats'>;

export function fromSignedTransaction(payload: TransactionPayload): StoreTransaction {
  const { isUpgraded, revocationDate, expiresDate, signedDate, offerType, offerIdentifier } = payload;
  const isTrial = isFreeTrial(payload);
  const productType = productTypes[payload.type ?? ''];
  return {
    ...toSaleFields({
      originalTransactionId: payload.originalTransactionId,
      lineItemId: payload.webOrderLineItemId,
      ...omitUndefined({ productType, expiresDate }),
    }),
    ...omitUndefined({
      productType,
      subscriptionGroupId: payload.subscriptionGroupIdentifier,
      originalPurchaseDate: payload.originalPurchaseDate,
      expiresDate,
      ...toRefundFields(payload),
      revocationReason: findRevocationDate(payload) === undefined ? undefined : toRevocationReason(payload),
      replacedAt: isUpgraded ? Math.min(revocationDate ?? expiresDate ?? signedDate, signedDate) : undefined,
      isRenewal: payload.transactionReason === 'RENEWAL' || undefined,
      isTrial: isTrial || undefined,
      isIntro: (offerType === introductoryOffer && !isTrial) || undefined,
      offerId: offerIdentifier,
      discountId: offerType === introductoryOffer ? undefined : offerIdentifier,
      quantity: payload.quantity,
      currency: payload.currency,
      amountMicros: toAmountMicros(payload),
      ...toSeatFields(payload),
      isShared: payload.inAppOwnershipType === undefined ? undefined : isSharedOwnership(payload.inAppOwnershipType),
      userAlias: payload.appAccountToken,
      appTransactionId: payload.appTransactionId,
      storefront: payload.storefront,
      offerType: offerType === undefined ? undefined : String(offerType),
      offerPeriod: payload.offerPeriod,
    }),
    transactionId: payload.transactionId,
    originalTransactionId: payload.originalTransactionId,
    productId: payload.productId,
    sandbox: payload.environment !== 'Production',
    purchaseDate: payload.purchaseDate,
    usedIntroOffer: offerType === introductoryOffer,
    signedAt: signedDate,
    native: payload,
  };
}

/** Older payloads lack `offerDiscountType`. In these, a trial is an introductory offer without a price. */
function isFreeTrial({ offerType, offerDiscountType, price }: TransactionPayload): boolean {
  if (offerDiscountType !== undefined) return offerDiscountType === 'FREE_TRIAL';
  return offerType === introductoryOffer && price === 0;
}

/** @see https://developer.apple.com/documentation/appstoreservernotifications/revocationtype */
function toRevocationReason({ revocationReason, revocationType }: TransactionPayload): CancelationReason {
  if (revocationType === 'FAMILY_REVOKE') return 'Customer.OtherReason';
  return refundReasons[revocationReason ?? -1] ?? 'Unknown';
}

export function fromSignedStatus(
  status: number,
  transaction: TransactionPayload,
  renewal?: RenewalPayload,
): SubscriptionStatus {
  return {
    status,
    transaction: fromSignedTransaction(transaction),
    ...(renewal && toRenewalState(renewal)),
  };
}

function toRenewalState(renewal: RenewalPayload): Omit<SubscriptionStatus, 'status' | 'transaction'> {
  const { expirationIntent, gracePeriodExpiresDate, priceIncreaseStatus, autoRenewStatus } = renewal;
  const renewalIntent = toRenewalIntent(renewal);
  return omitUndefined({
    signedAt: renewal.signedDate,
    renewalIntent,
    isCommitted: (renewalIntent === 'Lapse' && autoRenewStatus === 1) || undefined,
    renewalProductId: renewal.autoRenewProductId,
    graceEndsAt: gracePeriodExpiresDate,
    expirationReason: expirationIntent === undefined ? undefined : (expirationReasons[expirationIntent] ?? 'Unknown'),
    priceConsentStatus:
      priceIncreaseStatus === undefined ? undefined : priceIncreaseStatus === 1 ? 'Agreed' : 'Notified',
    userAlias: renewal.appAccountToken,
  } as const);
}

/**
 * Returns the customer's choice. A canceled plan with a commitment is billed until the commitment ends, with an
 * `autoRenewStatus` of 1.
 * @see https://developer.apple.com/documentation/storekit/managing-lifecycle-of-monthly-subscriptions-with-a-12-month-commitment-
 */
function toRenewalIntent({ autoRenewStatus, commitmentInfo }: RenewalPayload): RenewalIntent | undefined {
  const statuses = [autoRenewStatus, commitmentInfo?.commitmentAutoRenewStatus].filter(
    (status) => status !== undefined,
  );
  if (statuses.length === 0) return undefined;
  return statuses.every((status) => status === 1) ? 'Renew' : 'Lapse';
}

/**
 * Seats that are added to a running period make another transaction, which does not replace the first one. All of
 * them have the reason.
 * @see https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
 */
function toSeatFields(payload: TransactionPayload): SeatFields {
  const { additionalTransactionReason, transactionReason, transactionId, originalTransactionId } = payload;
  const sharesPeriod = additionalTransactionReason !== undefined;
  const isAddition = sharesPeriod && transactionReason === 'PURCHASE' && transactionId !== originalTransactionId;
  return omitUndefined({
    sharesPeriod: sharesPeriod || undefined,
    isSeatAddition: isAddition || undefined,
    revokedSeats: countRevokedSeats(payload) || undefined,
  });
}
