import type {
  PurchaseDetails,
  PurchaseNotification,
  PurchaseRecord,
  TransactionRecord,
} from '../api/purchase-records.ts';
import type { ValidatorPurchase } from '../api/validation.ts';
import { toAmountUsd } from '../money/usd-amount.ts';
import { withoutPlatform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';
import { isExpired, isSubscription, type Purchase } from './purchase.ts';
import type { Transaction } from './transaction.ts';

/** `YYYY-MM-DDTHH:MM:SS.000Z`: receivers compare dates as text and some accept whole seconds only. */
export const toIsoSeconds = (date: EpochMillis): string => `${new Date(date).toISOString().slice(0, 19)}.000Z`;

/** The fields that both projections copy as they are. */
const commonFields = [
  'renewalIntent',
  'cancelationReason',
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

/** The v3 record of a purchase, as it is at `now`. */
export function toPurchaseRecord(purchase: Purchase, now: EpochMillis): PurchaseRecord {
  const expirationDate = getEffectiveExpiration(purchase);
  return {
    ...pick(purchase, v3Fields),
    ...toIsoDates({ ...purchase, ...(expirationDate !== undefined && { expirationDate }) }),
    ...(isSubscription(purchase) || purchase.endedAt !== undefined ? { isExpired: isExpired(purchase, now) } : {}),
    ...(purchase.amountMicros !== undefined && {
      amountMicros: purchase.amountMicros,
      amountUSD: toAmountUsd(purchase),
    }),
  };
}

/** The record of a single fetch: with the entitled users, and with the lifecycle notifications when they are asked for. */
export function toPurchaseDetails(
  purchase: Purchase,
  entitledUsers: readonly string[],
  {
    now,
    notifications,
  }: { now: EpochMillis; notifications?: readonly { date: EpochMillis; reason: NotificationReason }[] },
): PurchaseDetails {
  return {
    ...toPurchaseRecord(purchase, now),
    entitledUsers: [...entitledUsers],
    ...(notifications && { notifications: notifications.map(toNotificationRecord) }),
  };
}

/** A notification as it is listed with its purchase. */
export const toNotificationRecord = ({
  date,
  reason,
}: {
  date: EpochMillis;
  reason: NotificationReason;
}): PurchaseNotification => ({
  date: toIsoSeconds(date),
  reason,
});

/** The element of a validation's collection, as it is at `now`. */
export function toValidatorPurchase(purchase: Purchase, now: EpochMillis): ValidatorPurchase {
  const expired = isExpired(purchase, now);
  const expiryDate = getEffectiveExpiration(purchase);
  return {
    ...pick(purchase, commonFields),
    ...pick(purchase, ['purchaseDate', 'lastRenewalDate', 'renewalIntentChangeDate']),
    id: withoutPlatform(purchase.productId),
    platform: purchase.platform,
    purchaseId: withoutPlatform(purchase.purchaseId),
    transactionId: withoutPlatform(purchase.transactionId),
    ...(expiryDate !== undefined && { expiryDate }),
    isExpired: expired,
    ...(purchase.isPaused || (purchase.isBillingRetryPeriod && expired) ? { isSuspended: true } : {}),
  };
}

/** Receivers that only compare dates must see a purchase that was taken away as past. */
const getEffectiveExpiration = ({ expirationDate, endedAt }: Purchase): EpochMillis | undefined =>
  endedAt === undefined ? expirationDate : Math.min(endedAt, expirationDate ?? endedAt);

export function toTransactionRecord(transaction: Transaction): TransactionRecord {
  return {
    ...pick(transaction, ['transactionId', 'purchaseId', 'productId', 'platform', 'sandbox', 'isPending', 'quantity']),
    ...pick(transaction, ['isTrialPeriod', 'isIntroPeriod', 'isReportedAmount']),
    offerId: transaction.offerId ?? null,
    purchaseDate: toIsoSeconds(transaction.purchaseDate),
    ...(transaction.expirationDate !== undefined && { expirationDate: toIsoSeconds(transaction.expirationDate) }),
    amountMicros: transaction.amountMicros ?? null,
    amountUSD: toAmountUsd(transaction),
    currency: transaction.currency ?? null,
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
