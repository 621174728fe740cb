import { dayMs } from '../calendar.ts';
import type { Payment, Purchase } from './records.ts';
import { toTimestamp } from './service-request.ts';

/** Recipient and time of a collection response. */
export interface ItemContext {
  readonly userId: string;
  readonly localTicketReference: string;
  readonly now: number;
}

/** End date of items without an end. */
const noEndDate = '9999-12-31T23:59:59.9999999+00:00';
/** SKU id of all emulated products. */
export const skuId = '0010';

/** Returns the end of the entitlement. For a subscription it includes the grace period. */
const getEnd = ({ item, recurrence }: Purchase): number | undefined =>
  recurrence ? recurrence.expirationTimeWithGrace : item.endDate;

/** Returns the status of an item at the time. */
export function getStatus(purchase: Purchase, now: number): Purchase['item']['status'] {
  const { status } = purchase.item;
  return status === 'Active' && (getEnd(purchase) ?? now + 1) <= now ? 'Expired' : status;
}

function buildCommonMembers(purchase: Purchase, now: number): object {
  const { item, productId, recurrence } = purchase;
  const end = getEnd(purchase);
  return {
    acquiredDate: toTimestamp(item.acquiredDate),
    endDate: end === undefined ? noEndDate : toTimestamp(end),
    modifiedDate: toTimestamp(recurrence ? recurrence.lastModified : item.modifiedDate),
    productId,
    skuId,
    startDate: toTimestamp(item.acquiredDate),
    status: getStatus(purchase, now),
    tags: [],
    // The services use the order id as the transaction id.
    transactionId: getLatestPayment(purchase).orderId,
  };
}

/**
 * Converts an item to the format of version 6.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products
 */
export const toItemV6 = (purchase: Purchase, { userId, localTicketReference, now }: ItemContext): object => ({
  ...buildCommonMembers(purchase, now),
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

/**
 * Converts an item to the format of version 9.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v9-query-for-products
 */
export const toItemV9 = (purchase: Purchase, { now }: ItemContext): object => ({
  ...buildCommonMembers(purchase, now),
  acquisitionType: purchase.recurrence ? 'Recurring' : 'Single',
  id: purchase.item.id,
  productKind: purchase.item.kind,
  quantity: purchase.item.quantity,
  satisfiedByProductIds: [],
  trialData: toTrialData(purchase, now),
  ...(purchase.recurrence && { recurrenceId: purchase.id }),
});

/**
 * Converts an item to the format of version 8.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-query-for-products
 */
export const toItemV8 = (purchase: Purchase, context: ItemContext): object => {
  const { recurrenceId: _omitted, ...item } = toItemV9(purchase, context) as { recurrenceId?: string };
  return {
    ...item,
    localTicketReference: context.localTicketReference,
    purchasedCountry: purchase.country,
    productFamily: '',
    sharingSource: 'None',
    ...(purchase.recurrence && { recurrenceData: { recurrenceId: purchase.id } }),
  };
};

function toTrialData(purchase: Purchase, now: number): object {
  const isTrial = purchase.recurrence ? purchase.recurrence.isTrial : purchase.item.isTrial;
  const remainingMs = isTrial ? Math.max(0, (getEnd(purchase) ?? now) - now) : 0;
  return { isInTrialPeriod: isTrial && remainingMs > 0, isTrial, trialTimeRemaining: formatTimeSpan(remainingMs) };
}

/** Formats a duration as a .NET time span: `days.hours:minutes:seconds`. */
function formatTimeSpan(ms: number): string {
  const days = Math.floor(ms / dayMs);
  return `${days > 0 ? `${days}.` : ''}${new Date(ms % dayMs).toISOString().slice(11, 19)}`;
}

/** Returns the latest payment of a purchase. */
export function getLatestPayment({ id, payments }: Purchase): Payment {
  const payment = payments.at(-1);
  if (payment === undefined) throw new Error(`The payments of purchase ${id} are missing`);
  return payment;
}
