import type { CancelationReason } from '../api/schemas.ts';
import { withoutPlatform } from '../foundation/platform.ts';
import { type EpochMillis, toIsoSeconds } from '../foundation/time.ts';
import { toAmountUsd } from '../money/usd-conversion.ts';
import type { Announcement } from './announcement.ts';
import { isExpired, isSubscription, isUnpaid, isUnverified, type Purchase } from './purchase.ts';
import type { PurchaseDetails, PurchaseNotification, PurchaseRecord, ValidatorPurchase } from './purchase-contract.ts';
import { listRefundedAmounts } from './refunds.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionRecord } from './transaction-contract.ts';

type LifecycleNotification = Pick<Announcement, 'date' | 'reason'>;

/** Fields that the v3 record and the validation response copy unchanged. */
const commonFields = [
  'renewalIntent',
  'isBillingRetryPeriod',
  'isTrialPeriod',
  'isIntroPeriod',
  'isAcknowledged',
  'isConsumed',
  'priceConsentStatus',
  'discountId',
  'quantity',
] as const satisfies readonly (keyof Purchase)[];

const v3Fields = [
  ...commonFields,
  'purchaseId',
  'transactionId',
  'productId',
  'platform',
  'sandbox',
  'isPending',
  'currency',
  'isSharedPurchase',
  'isPaused',
] as const satisfies readonly (keyof Purchase)[];

const v3DateFields = [
  'purchaseDate',
  'lastRenewalDate',
  'expirationDate',
  'renewalIntentChangeDate',
  'autoResumeDate',
] as const satisfies readonly (keyof Purchase)[];

/** Returns the v3 record of a purchase at `now`. */
export function toPurchaseRecord(purchase: Purchase, now: EpochMillis): PurchaseRecord {
  const { expirationDate: reported, ...dates } = purchase;
  const expirationDate = getEffectiveExpiration(purchase, now);
  return {
    ...pick(purchase, v3Fields),
    ...toVisibleReason(purchase, now),
    ...toIsoDates({ ...dates, ...(expirationDate !== undefined && { expirationDate }) }),
    ...(isSubscription(purchase) || purchase.endedAt !== undefined || purchase.isAbandoned
      ? { isExpired: isExpired(purchase, now) }
      : {}),
    ...(reported !== undefined && isUnverified(purchase, now) && { unverifiedSince: toIsoSeconds(reported) }),
    ...(purchase.amountMicros !== undefined && {
      amountMicros: purchase.amountMicros,
      amountUSD: toAmountUsd(purchase),
    }),
  };
}

/** Returns the record of a single purchase, with its entitled users and, if passed, its lifecycle notifications. */
export function toPurchaseDetails(
  purchase: Purchase,
  entitledUsers: readonly string[],
  { now, notifications }: { now: EpochMillis; notifications?: readonly LifecycleNotification[] },
): PurchaseDetails {
  return {
    ...toPurchaseRecord(purchase, now),
    // An entitled user owns the purchase. Until it is paid, its claims do not entitle.
    entitledUsers: isUnpaid(purchase) ? [] : [...entitledUsers],
    ...(notifications && { notifications: notifications.map(toNotificationRecord) }),
  };
}

/** Returns the record of a lifecycle notification. */
export const toNotificationRecord = ({ date, reason }: LifecycleNotification): PurchaseNotification => ({
  date: toIsoSeconds(date),
  reason,
});

/** Returns the element of the `collection` of a validation response at `now`. */
export function toValidatorPurchase(purchase: Purchase, now: EpochMillis): ValidatorPurchase {
  const isExpiredNow = isExpired(purchase, now);
  const expiryDate = getEffectiveExpiration(purchase, now);
  return {
    ...pick(purchase, commonFields),
    ...toVisibleReason(purchase, now),
    ...pick(purchase, ['purchaseDate', 'lastRenewalDate', 'renewalIntentChangeDate']),
    id: withoutPlatform(purchase.productId),
    platform: purchase.platform,
    purchaseId: withoutPlatform(purchase.purchaseId),
    transactionId: withoutPlatform(purchase.transactionId),
    ...(expiryDate !== undefined && { expiryDate }),
    ...((isExpiredNow || !canBeBoughtAgain(purchase)) && { isExpired: isExpiredNow }),
    ...(isUnverified(purchase, now) && { unverifiedSince: purchase.expirationDate }),
    ...(purchase.isPaused || (purchase.isBillingRetryPeriod && isExpiredNow) ? { isSuspended: true } : {}),
  };
}

/**
 * The client may buy the product again while it has the purchase. cordova-plugin-purchase 11 takes an `isExpired` of
 * false for ownership without an end.
 */
const canBeBoughtAgain = ({ productType, expirationDate }: Purchase): boolean =>
  productType === 'consumable' || (productType === 'non renewing subscription' && expirationDate === undefined);

/** Returns the reason only if access has ended: existing clients treat a purchase with a reason as not owned. */
const toVisibleReason = (purchase: Purchase, now: EpochMillis): { readonly cancelationReason?: CancelationReason } =>
  purchase.cancelationReason !== undefined && isExpired(purchase, now)
    ? { cancelationReason: purchase.cancelationReason }
    : {};

/**
 * Returns the end of access: a client that compares dates only must see an ended purchase as expired, and an unverified
 * one as active. Undefined for a purchase whose payment is pending, because its period starts with the payment.
 */
const getEffectiveExpiration = (purchase: Purchase, now: EpochMillis): EpochMillis | undefined => {
  const { expirationDate, endedAt, unverifiedUntil, isPending } = purchase;
  if (isPending) return undefined;
  if (isUnverified(purchase, now) && !isExpired(purchase, now)) return unverifiedUntil;
  return endedAt === undefined ? expirationDate : Math.min(endedAt, expirationDate ?? endedAt);
};

/** Returns the record of a transaction. The purchase adds its state to its latest transaction. */
export function toTransactionRecord(transaction: Transaction, purchase?: Purchase): TransactionRecord {
  return {
    ...pick(transaction, ['transactionId', 'purchaseId', 'productId', 'platform', 'sandbox', 'isPending', 'quantity']),
    ...pick(transaction, ['isTrialPeriod', 'isIntroPeriod', 'isReportedAmount', 'taxMicros']),
    offerId: transaction.offerId ?? null,
    purchaseDate: toIsoSeconds(transaction.purchaseDate),
    ...(transaction.expirationDate !== undefined && { expirationDate: toIsoSeconds(transaction.expirationDate) }),
    amountMicros: transaction.amountMicros ?? null,
    amountUSD: toAmountUsd(transaction),
    currency: transaction.currency ?? null,
    ...toRefundFields(transaction),
    ...(purchase?.transactionId === transaction.transactionId && toPurchaseFields(purchase)),
  };
}

/** Returns the records of transactions. Purchases that are missing in the list add nothing. */
export function toTransactionRecords(
  transactions: readonly Transaction[],
  purchases: readonly Purchase[],
): TransactionRecord[] {
  const purchasesById = new Map(purchases.map((purchase) => [purchase.purchaseId, purchase]));
  return transactions.map((transaction) => toTransactionRecord(transaction, purchasesById.get(transaction.purchaseId)));
}

const toPurchaseFields = (purchase: Purchase) => ({
  ...pick(purchase, ['isBillingRetryPeriod', 'isAcknowledged', 'renewalIntent']),
  ...(purchase.lastRenewalDate !== undefined && { lastRenewalDate: toIsoSeconds(purchase.lastRenewalDate) }),
});

/** Returns the sum and the latest date of the refunds. A full refund of an unknown amount has a date only. */
function toRefundFields(transaction: Transaction): Pick<TransactionRecord, 'refundedAmountMicros' | 'refundDate'> {
  const refunds = listRefundedAmounts(transaction);
  if (refunds.length === 0) return {};
  return {
    ...(transaction.amountMicros !== undefined && {
      refundedAmountMicros: refunds.reduce((sum, { amountMicros = 0 }) => sum + amountMicros, 0),
    }),
    refundDate: toIsoSeconds(Math.max(...refunds.map(({ date }) => date))),
  };
}

function toIsoDates(purchase: Purchase): Partial<Record<(typeof v3DateFields)[number], string>> {
  const dates: Partial<Record<(typeof v3DateFields)[number], string>> = {};
  for (const field of v3DateFields) {
    const date = purchase[field];
    if (date !== undefined) dates[field] = toIsoSeconds(date);
  }
  return dates;
}

function pick<T extends object, const K extends keyof T>(record: T, fields: readonly K[]): Pick<T, K> {
  const picked: Partial<T> = {};
  for (const field of fields) if (record[field] !== undefined) picked[field] = record[field];
  return picked as Pick<T, K>;
}
