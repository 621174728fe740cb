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

/** Returns the date of a revocation that is not the end of an upgraded transaction. */
export const findRevocationDate = (payload: TransactionPayload): EpochMillis | undefined =>
  isRevokedByUpgrade(payload) ? undefined : payload.revocationDate;

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
  // The refund of the last seats refunds the rest of the transaction.
  const seatRefunds = isRefunded ? [] : listSeatRefunds(payload);
  const partialRefunds = [...proratedRefunds, ...itemRefunds, ...seatRefunds];
  return omitUndefined({
    revokedAt: isEnd ? revocationDate : undefined,
    refundedAt: isRefunded ? revocationDate : undefined,
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
  { multiSeatInfo }: TransactionPayload,
  reversedAt: EpochMillis,
): readonly PartialRefund[] {
  const sumIds = multiSeatInfo ? [proratedId, seatsId] : [proratedId];
  const reversedIds = sumIds.filter((sumId) => !partialRefunds.some(({ id }) => id === sumId));
  return [
    ...partialRefunds.map((refund) =>
      refund.id === proratedId ? { ...refund, latestDate: reversedAt, reversedAt } : refund,
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
 * Lists the refunds of items that the app's own server sells by the Advanced Commerce API. Their transactions lack a
 * `revocationType`.
 * @see https://developer.apple.com/documentation/storekit/transaction/revocationtype-swift.property
 */
function listItemRefunds({ advancedCommerceInfo, revocationDate, signedDate }: TransactionPayload): PartialRefund[] {
  return (advancedCommerceInfo?.items ?? []).flatMap(({ SKU = '', refunds = [] }) =>
    refunds.map(({ refundAmount, refundDate = revocationDate ?? signedDate }) => ({
      id: toItemRefundId(SKU, refundDate),
      date: refundDate,
      ...(refundAmount !== undefined && { amountMicros: refundAmount * microsPerMilliunit }),
    })),
  );
}

const toItemRefundId = (sku: string, refundDate: EpochMillis): string => `item ${sku} ${refundDate}`;

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
