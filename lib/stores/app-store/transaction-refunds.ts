import { sum } from '../../foundation/collections.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import type { TransactionPayload } from './payloads.ts';
import type { StoreTransaction } from './store-transaction.ts';

type RefundFields = Pick<StoreTransaction, 'revokedAt' | 'refundedAt' | 'partialRefunds'>;

/** Id of the sum of the prorated refunds of a transaction. */
const proratedId = 'revocation';

/** Id of the sum of the refunded seats. */
const seatsId = 'seats';

/** `revocationPercentage` of a full refund: 100 %. */
const fullPercentage = 100_000;

/**
 * In receipts of customers who have upgraded, Apple sets a cancellation date and keeps the expiration date of the whole
 * period. It reports no amount for the rest of the period.
 * @see https://developer.apple.com/forums/thread/96670
 */
const isRevokedByUpgrade = ({ isUpgraded, revocationType }: TransactionPayload): boolean =>
  isUpgraded === true && revocationType === undefined;

/**
 * Returns the date of a revocation that is not the end of an upgraded transaction. A transaction with items of the
 * Advanced Commerce API ends with the last of them: a refund can be of one item, which then has the end of its access.
 * @see https://developer.apple.com/documentation/storekit/transaction/advancedcommerceinfo-swift.struct/item/revocationdate
 */
export function findRevocationDate(payload: TransactionPayload): EpochMillis | undefined {
  if (isRevokedByUpgrade(payload)) return undefined;
  const items = listItems(payload);
  const ends = items.flatMap(({ revocationDate }) => revocationDate ?? []);
  const endedCount = ends.length || items.filter(({ refunds = [] }) => refunds.length > 0).length;
  if (endedCount > 0 && endedCount < items.length) return undefined;
  return payload.revocationDate ?? (ends.length > 0 ? Math.max(...ends) : undefined);
}

const listItems = ({ advancedCommerceInfo }: TransactionPayload) => advancedCommerceInfo?.items ?? [];

/**
 * Derives the end of access and the returned money of a transaction.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationdate
 */
export function toRefundFields(payload: TransactionPayload): RefundFields {
  const { expiresDate } = payload;
  const revocationDate = findRevocationDate(payload);
  const proratedRefunds = listProratedRefunds(payload);
  const itemRefunds = listItemRefunds(payload);
  const isProrated = isProratedRefund(payload);
  // A prorated refund ends a subscription. Apple does not document that it ends a one-time purchase.
  const isEnd = !isProrated || expiresDate !== undefined;
  const isFullRefund = !isProrated && itemRefunds.length === 0 && isRefund(payload);
  const isRefunded = isFullRefund && revocationDate !== undefined;
  const lastItemRefund = hasRefundedItems(payload, itemRefunds) ? itemRefunds.at(-1) : undefined;
  // The refund of the last seats or items refunds the rest of the transaction.
  const seatRefunds = isRefunded ? [] : listSeatRefunds(payload);
  const itemParts = lastItemRefund ? itemRefunds.slice(0, -1) : itemRefunds;
  const partialRefunds = [...proratedRefunds, ...itemParts, ...seatRefunds];
  return omitUndefined({
    revokedAt: isEnd ? revocationDate : undefined,
    refundedAt: isRefunded ? revocationDate : lastItemRefund?.latestDate,
    partialRefunds: partialRefunds.length > 0 ? partialRefunds : undefined,
  });
}

/**
 * Other types, such as the end of a seat assignment, and other reasons, such as the change to a bundle, end access
 * only. A shared purchase costs nothing, so that its revocation counts as the refund of nothing.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationtype
 */
const isRefund = ({ revocationType, revocationReason = 0, inAppOwnershipType }: TransactionPayload): boolean =>
  isSharedOwnership(inAppOwnershipType) ||
  (revocationType === undefined
    ? revocationReason === 0 || revocationReason === 1
    : revocationType === 'REFUND_FULL' || revocationType === 'REFUND_PRORATED');

/**
 * The customer got the purchase from its buyer: by Family Sharing, or as the holder of an assigned seat, whose
 * transaction repeats the price and the seats of the buyer.
 * @see https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
 * @see https://developer.apple.com/documentation/appstoreserverapi/invitationmanagement
 */
export const isSharedOwnership = (ownership: string | undefined): boolean =>
  ownership !== undefined && ownership !== 'PURCHASED';

const isProratedRefund = ({ revocationDate, revocationType, revocationPercentage }: TransactionPayload): boolean =>
  revocationDate !== undefined &&
  revocationType === 'REFUND_PRORATED' &&
  revocationPercentage !== undefined &&
  revocationPercentage < fullPercentage;

/**
 * The percentage is the sum of all refunds of the transaction, so all observations of it have one id.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage
 */
function listProratedRefunds(payload: TransactionPayload): PartialRefund[] {
  const { revocationDate, revocationPercentage = 0 } = payload;
  if (revocationDate === undefined || !isProratedRefund(payload) || revocationPercentage <= 0) return [];
  const total = toAmountMicros(payload);
  const amountMicros = total === undefined ? undefined : Math.round((total * revocationPercentage) / fullPercentage);
  return [{ id: proratedId, date: revocationDate, latestDate: revocationDate, ...omitUndefined({ amountMicros }) }];
}

/**
 * Returns the partial refunds of a transaction, one of whose refunds Apple has reversed. Its payload lacks what was
 * reversed: a sum that it still has replaces the former one, and does not count without it.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage
 */
export function reverseRefunds(
  partialRefunds: readonly PartialRefund[] = [],
  payload: TransactionPayload,
  reversedAt: EpochMillis,
): readonly PartialRefund[] {
  const datedIds = [proratedId, ...listItems(payload).map(toItemRefundId)];
  const sumIds = payload.multiSeatInfo ? [...datedIds, seatsId] : datedIds;
  const reversedIds = sumIds.filter((sumId) => !partialRefunds.some(({ id }) => id === sumId));
  return [
    ...partialRefunds.map((refund) =>
      datedIds.includes(refund.id) ? { ...refund, latestDate: reversedAt, reversedAt } : refund,
    ),
    ...reversedIds.map((id) => ({ id, date: reversedAt, reversedAt })),
  ];
}

/**
 * A refund of some seats keeps the transaction valid for the others and lacks a separate date. The App Store does not
 * report its amount: the average price of the seats counts.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
 */
function listSeatRefunds(payload: TransactionPayload): PartialRefund[] {
  const quantity = countRevokedSeats(payload);
  return quantity > 0 && !isSharedOwnership(payload.inAppOwnershipType)
    ? [{ id: seatsId, date: payload.signedDate, quantity, isSum: true }]
    : [];
}

/** The field is documented for the transaction, and in StoreKit for its seat information. */
export const countRevokedSeats = ({ multiSeatInfo, revokedSeatQuantity }: TransactionPayload): number =>
  multiSeatInfo?.revokedSeatQuantity ?? revokedSeatQuantity ?? 0;

/**
 * Lists the refunds of items that the app's own server sells by the Advanced Commerce API, the latest last. Their
 * transactions lack a `revocationType`. The refunds of an item are one sum, so that the item shows their reversal.
 * @see https://developer.apple.com/documentation/storekit/transaction/revocationtype-swift.property
 */
const listItemRefunds = (payload: TransactionPayload) =>
  listItems(payload)
    .flatMap((item) => {
      const { refunds = [] } = item;
      if (refunds.length === 0) return [];
      const amounts = refunds.flatMap(({ refundAmount }) => refundAmount ?? []);
      const dates = refunds.map(({ refundDate }) => refundDate ?? payload.revocationDate ?? payload.signedDate);
      const amountMicros = amounts.length === refunds.length ? sum(amounts) * microsPerMilliunit : undefined;
      const [date, latestDate] = [Math.min(...dates), Math.max(...dates)];
      return { id: toItemRefundId(item), date, latestDate, isSum: true as const, ...omitUndefined({ amountMicros }) };
    })
    .sort((a, b) => a.latestDate - b.latestDate);

/** The refunds of the items return the whole payment. */
function hasRefundedItems(payload: TransactionPayload, itemRefunds: readonly PartialRefund[]): boolean {
  const total = toAmountMicros(payload) ?? 0;
  return total > 0 && sum(itemRefunds.map(({ amountMicros = 0 }) => amountMicros)) >= total;
}

const toItemRefundId = ({ SKU = '' }: ReturnType<typeof listItems>[number]): string => `item ${SKU}`;

/** Factor from Apple's thousandths of a currency unit to millionths. */
const microsPerMilliunit = 1000;

/**
 * Returns the payment of a transaction. For a multiseat purchase it is the sum over the price tiers: `price` is the
 * average of a seat there. Undefined if the payload lacks a price.
 * @see https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo
 */
export function toAmountMicros({ price, quantity = 1, multiSeatInfo }: TransactionPayload): number | undefined {
  const tiers = multiSeatInfo?.priceTiers ?? [];
  if (tiers.length > 0) return tiers.reduce((sum, tier) => sum + tier.price * tier.quantity, 0) * microsPerMilliunit;
  if (price === undefined) return undefined;
  return price * microsPerMilliunit * (multiSeatInfo ? quantity : 1);
}
