import type { FetchedPurchase, PurchaseNotification, PurchaseRecord, TransactionRecord } from '../api/records.ts';
import type { ValidatorPurchase } from '../api/validation.ts';
import { amountUSD } from '../money/amount.ts';
import type { NotificationReason } from '../notifications/reasons.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { bare } from './platform.ts';
import { isExpired, isSubscription, type Millis, type Purchase } from './purchase.ts';

/** `YYYY-MM-DDTHH:MM:SS.000Z`: receivers compare dates as text and some accept whole seconds only. */
export const isoSeconds = (date: Millis): string => `${new Date(date).toISOString().slice(0, 19)}.000Z`;

/** The fields that both projections copy as they are. */
const copied = [
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

const copiedV3 = [
  ...copied,
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

const datesV3 = [
  'purchaseDate',
  'lastRenewalDate',
  'expirationDate',
  'renewalIntentChangeDate',
  'autoResumeDate',
] as const satisfies readonly (keyof Purchase)[];

/** The v3 record of a purchase, as it is at `now`. */
export function purchaseRecord(purchase: Purchase, now: Millis): PurchaseRecord {
  const expirationDate = shownExpiration(purchase);
  return {
    ...pick(purchase, copiedV3),
    ...isoDates({ ...purchase, ...(expirationDate !== undefined && { expirationDate }) }),
    ...(isSubscription(purchase) || purchase.endedAt !== undefined ? { isExpired: isExpired(purchase, now) } : {}),
    ...(purchase.amountMicros !== undefined && { amountMicros: purchase.amountMicros, amountUSD: amountUSD(purchase) }),
  };
}

/** The record of a single fetch: with the entitled users, and with the lifecycle notifications when they are asked for. */
export function fetchedPurchase(
  purchase: Purchase,
  entitledUsers: readonly string[],
  { now, notifications }: { now: Millis; notifications?: readonly { date: Millis; reason: NotificationReason }[] },
): FetchedPurchase {
  return {
    ...purchaseRecord(purchase, now),
    entitledUsers: [...entitledUsers],
    ...(notifications && { notifications: notifications.map(notificationRecord) }),
  };
}

/** A notification as it is listed with its purchase. */
export const notificationRecord = ({
  date,
  reason,
}: {
  date: Millis;
  reason: NotificationReason;
}): PurchaseNotification => ({
  date: isoSeconds(date),
  reason,
});

/** The element of a validation's collection, as it is at `now`. */
export function validatorPurchase(purchase: Purchase, now: Millis): ValidatorPurchase {
  const expired = isExpired(purchase, now);
  const expiryDate = shownExpiration(purchase);
  return {
    ...pick(purchase, copied),
    ...pick(purchase, ['purchaseDate', 'lastRenewalDate', 'renewalIntentChangeDate']),
    id: bare(purchase.productId),
    platform: purchase.platform,
    purchaseId: bare(purchase.purchaseId),
    transactionId: bare(purchase.transactionId),
    ...(expiryDate !== undefined && { expiryDate }),
    isExpired: expired,
    ...(purchase.isPaused || (purchase.isBillingRetryPeriod && expired) ? { isSuspended: true } : {}),
  };
}

/** Receivers that only compare dates must see a purchase that was taken away as past. */
const shownExpiration = ({ expirationDate, endedAt }: Purchase): Millis | undefined =>
  endedAt === undefined ? expirationDate : Math.min(endedAt, expirationDate ?? endedAt);

export function transactionRecord(transaction: Transaction): TransactionRecord {
  return {
    ...pick(transaction, ['transactionId', 'purchaseId', 'productId', 'platform', 'sandbox', 'isPending', 'quantity']),
    ...pick(transaction, ['isTrialPeriod', 'isIntroPeriod', 'isReportedAmount']),
    offerId: transaction.offerId ?? null,
    purchaseDate: isoSeconds(transaction.purchaseDate),
    ...(transaction.expirationDate !== undefined && { expirationDate: isoSeconds(transaction.expirationDate) }),
    amountMicros: transaction.amountMicros ?? null,
    amountUSD: amountUSD(transaction),
    currency: transaction.currency ?? null,
  };
}

function isoDates(purchase: Purchase): Partial<Record<(typeof datesV3)[number], string>> {
  const dates: Partial<Record<(typeof datesV3)[number], string>> = {};
  for (const field of datesV3) {
    const date = purchase[field];
    if (date !== undefined) dates[field] = isoSeconds(date);
  }
  return dates;
}

function pick<T extends object, const K extends keyof T>(record: T, fields: readonly K[]): Pick<T, K> {
  const picked: Partial<T> = {};
  for (const field of fields) if (record[field] !== undefined) picked[field] = record[field];
  return picked as Pick<T, K>;
}
