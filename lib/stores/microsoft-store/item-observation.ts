import type { CancelationReason } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { type MappingContext, toReportedAmount } from './mapping-context.ts';
import { type CollectionsItem, parseTimestamp } from './payloads.ts';

const activeStatus = 'Active';

/**
 * Reasons by the status of an ended item. An expired item needs no reason.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products
 */
const reasonsByStatus: ReadonlyMap<string, CancelationReason | undefined> = new Map([
  // Most often after a request of the customer. Only a clawback event reports whether the payment was refunded.
  ['Revoked', 'Customer'],
  ['Banned', 'System'],
  ['Suspended', 'System'],
  ['Expired', undefined],
]);

/** Converts an item of the collection. Returns undefined for an item without an id. */
export function toItemObservation(item: CollectionsItem, context: MappingContext): Observation | undefined {
  const id = getItemId(item);
  if (id === undefined) return undefined;
  const purchase = toPurchase(item, withPlatform(platformTokens.microsoftStore, id), context);
  const { userId, refreshToken, asOf } = context;
  return {
    asOf,
    purchase,
    transactions: toTransactions(purchase, item, context),
    userAliases: userId === undefined ? [] : [userId],
    refreshToken: { ...refreshToken, productId: item.productId, purchaseId: purchase.purchaseId },
  };
}

/** Returns the id without hyphens: some versions of the API write them. */
const getItemId = ({ id, itemId }: CollectionsItem): string | undefined =>
  (id || itemId || undefined)?.replace(
    /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/i,
    '$1$2$3$4$5',
  );

function toPurchase(item: CollectionsItem, purchaseId: string, { sandbox, asOf }: MappingContext): Purchase {
  const { status, skuId, quantity, trialData } = item;
  const productId = withPlatform(platformTokens.microsoftStore, item.productId);
  const expirationDate = parseTimestamp(item.endDate);
  const isEnded = status !== undefined && status !== null && status !== activeStatus;
  return {
    purchaseId,
    transactionId: toTransactionId(item) ?? purchaseId,
    productId,
    platform: platformTokens.microsoftStore,
    sandbox,
    ...omitUndefined({
      productType: toProductType(item, expirationDate),
      offerId: skuId ? `${productId}#${skuId}` : undefined,
      purchaseDate: parseTimestamp(item.acquiredDate),
      expirationDate,
      endedAt: isEnded ? findEndDate(item, expirationDate, asOf) : undefined,
      cancelationReason: isEnded ? toCancelationReason(status) : undefined,
      isTrialPeriod: trialData?.isInTrialPeriod ?? undefined,
      isConsumed: isConsumed(item),
      // The balance of a consumable, not the purchased quantity.
      quantity: quantity ?? undefined,
    }),
  };
}

/** Returns undefined for a GUID of zeros, which some versions write for a missing transaction. */
function toTransactionId({ transactionId }: CollectionsItem): string | undefined {
  return transactionId && /[^0-]/.test(transactionId)
    ? withPlatform(platformTokens.microsoftStore, transactionId)
    : undefined;
}

const getProductKind = ({ productKind, productType }: CollectionsItem): string => productKind || productType || '';

function toProductType(item: CollectionsItem, expirationDate: EpochMillis | undefined): Purchase['productType'] {
  if (item.recurrenceId || getProductKind(item) === 'Pass') return 'paid subscription';
  if (getProductKind(item).endsWith('Consumable')) return 'consumable';
  return expirationDate === undefined ? 'non consumable' : 'non renewing subscription';
}

/** A developer-managed consumable leaves the collection when it is reported as fulfilled. */
function isConsumed(item: CollectionsItem): boolean | undefined {
  const kind = getProductKind(item);
  if (kind === 'UnmanagedConsumable') return false;
  return kind === 'Consumable' && typeof item.quantity === 'number' ? item.quantity === 0 : undefined;
}

const toCancelationReason = (status: string): CancelationReason | undefined =>
  reasonsByStatus.has(status) ? reasonsByStatus.get(status) : 'Unknown';

function findEndDate(
  { status, modifiedDate }: CollectionsItem,
  expirationDate: EpochMillis | undefined,
  asOf: EpochMillis,
): EpochMillis | undefined {
  if (status === 'Expired' && expirationDate !== undefined && expirationDate <= asOf) return undefined;
  const modifiedAt = parseTimestamp(modifiedDate);
  return modifiedAt !== undefined && modifiedAt <= asOf ? modifiedAt : asOf;
}

function toTransactions(purchase: Purchase, item: CollectionsItem, context: MappingContext): Transaction[] {
  const { purchaseDate, offerId, expirationDate, isTrialPeriod } = purchase;
  if (purchaseDate === undefined) return [];
  return [
    {
      ...pickSharedFields(purchase),
      purchaseDate,
      ...omitUndefined({ offerId, expirationDate, isTrialPeriod, storefront: item.purchasedCountry || undefined }),
      ...(isTrialPeriod && { offerType: 'trial' }),
      ...toReportedAmount(context, isTrialPeriod || isIncluded(item)),
    },
  ];
}

/**
 * The customer has bought another product that includes this one, such as a bundle or Game Pass.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v9-query-for-products
 */
const isIncluded = ({ satisfiedByProductIds = [], productId }: CollectionsItem): boolean =>
  satisfiedByProductIds.some((id) => id.toUpperCase() !== productId.toUpperCase());
