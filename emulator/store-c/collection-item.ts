import type { Payment, Purchase } from './records.ts';
import { toTimestamp } from './service-request.ts';

/** Whom an entry of a collection is shown to. */
export interface ItemAudience {
  readonly userId: string;
  readonly localTicketReference: string;
  readonly now: number;
}

/** What the store writes for something that does not end. */
const never = '9999-12-31T23:59:59.9999999+00:00';
const sku = '0010';

/** When the customer's right to it ends: that of a subscription with its grace period. */
const getEnd = ({ item, recurrence }: Purchase): number | undefined =>
  recurrence ? recurrence.expirationTimeWithGrace : item.endDate;

/** The status of an entry at `now`. */
export function getStatus(purchase: Purchase, now: number): Purchase['item']['status'] {
  const { status } = purchase.item;
  return status === 'Active' && (getEnd(purchase) ?? now + 1) <= now ? 'Expired' : status;
}

function common(purchase: Purchase, now: number): object {
  const { item, productId, recurrence } = purchase;
  const end = getEnd(purchase);
  return {
    acquiredDate: toTimestamp(item.acquiredDate),
    endDate: end === undefined ? never : toTimestamp(end),
    modifiedDate: toTimestamp(recurrence ? recurrence.lastModified : item.modifiedDate),
    productId,
    skuId: sku,
    startDate: toTimestamp(item.acquiredDate),
    status: getStatus(purchase, now),
    tags: [],
    // The services call the order of a purchase its transaction.
    transactionId: getLatestPayment(purchase).orderId,
  };
}

/** An entry as version 6 writes it. */
export const toItemV6 = (purchase: Purchase, { userId, localTicketReference, now }: ItemAudience): object => ({
  ...common(purchase, now),
  fulfillmentData: [],
  inAppOfferToken: purchase.productId,
  itemId: purchase.item.id,
  localTicketReference,
  orderId: getLatestPayment(purchase).orderId,
  ownershipType: 'OwnedByBeneficiary',
  productType: purchase.item.kind,
  purchaser: { identityType: 'pub', identityValue: userId },
  skuType: purchase.item.isTrial ? 'Trial' : 'Full',
});

/** An entry as version 9 writes it. */
export const toItemV9 = (purchase: Purchase, { now }: ItemAudience): object => ({
  ...common(purchase, now),
  acquisitionType: purchase.recurrence ? 'Recurring' : 'Single',
  id: purchase.item.id,
  productKind: purchase.item.kind,
  quantity: purchase.item.quantity,
  satisfiedByProductIds: [],
  trialData: toTrialData(purchase, now),
  ...(purchase.recurrence && { recurrenceId: purchase.id }),
});

/** An entry as version 8 writes it. */
export const toItemV8 = (purchase: Purchase, shown: ItemAudience): object => {
  const { recurrenceId: _later, ...item } = toItemV9(purchase, shown) as { recurrenceId?: string };
  return {
    ...item,
    localTicketReference: shown.localTicketReference,
    purchasedCountry: 'US',
    productFamily: '',
    sharingSource: 'None',
    ...(purchase.recurrence && { recurrenceData: { recurrenceId: purchase.id } }),
  };
};

function toTrialData(purchase: Purchase, now: number): object {
  const isTrial = purchase.recurrence ? purchase.recurrence.isTrial : purchase.item.isTrial;
  const leftMs = isTrial ? Math.max(0, (getEnd(purchase) ?? now) - now) : 0;
  return { isInTrialPeriod: isTrial && leftMs > 0, isTrial, trialTimeRemaining: timeSpan(leftMs) };
}

/** A time span as .NET writes it: `days.hours:minutes:seconds`. */
function timeSpan(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  return `${days > 0 ? `${days}.` : ''}${new Date(ms % 86_400_000).toISOString().slice(11, 19)}`;
}

/** The payment that the purchase now rests on. */
export function getLatestPayment({ id, payments }: Purchase): Payment {
  const payment = payments.at(-1);
  if (payment === undefined) throw new Error(`The purchase ${id} was never paid`);
  return payment;
}
