import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { CollectionsItem } from './collections.ts';
import { type MappingContext, toReportedAmount } from './mapping-context.ts';
import { parseTimestamp } from './timestamps.ts';

const active = 'Active';

/** Why an item is not active any more; an item that came to its end needs no reason. */
const reasonsByStatus: ReadonlyMap<string, CancelationReason | undefined> = new Map([
  // Most commonly because the customer asked for a refund.
  ['Revoked', 'Customer'],
  ['Banned', 'System'],
  ['Suspended', 'System'],
  ['Expired', undefined],
]);

/** What an entry of the customer's collection says; undefined for one that cannot be told from others. */
export function toItemObservation(item: CollectionsItem, context: MappingContext): Observation | undefined {
  const id = getItemId(item);
  if (id === undefined) return undefined;
  const purchase = toPurchase(item, withPlatform('store_c', id), context);
  const { userId, refreshToken, asOf } = context;
  return {
    asOf,
    purchase,
    transactions: toTransactions(item, purchase, context),
    userAliases: userId === undefined ? [] : [userId],
    refreshToken: { ...refreshToken, productId: item.productId },
  };
}

/** The services write the id with hyphens or without. */
const getItemId = ({ id, itemId }: CollectionsItem): string | undefined =>
  (id || itemId || undefined)?.replace(
    /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/i,
    '$1$2$3$4$5',
  );

function toPurchase(item: CollectionsItem, purchaseId: string, { sandbox, asOf }: MappingContext): Purchase {
  const { status, skuId, quantity, trialData } = item;
  const productId = withPlatform('store_c', item.productId);
  const expirationDate = parseTimestamp(item.endDate);
  const isEnded = status !== undefined && status !== null && status !== active;
  return {
    purchaseId,
    transactionId: toTransactionId(item) ?? purchaseId,
    productId,
    platform: 'store_c',
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
      // What is left of a consumable, not what was once bought of it.
      quantity: quantity ?? undefined,
    }),
  };
}

/** Some services write a transaction that there is not as a GUID of zeros. */
function toTransactionId({ transactionId }: CollectionsItem): string | undefined {
  return transactionId && /[^0-]/.test(transactionId) ? withPlatform('store_c', transactionId) : undefined;
}

const getProductKind = ({ productKind, productType }: CollectionsItem): string => productKind || productType || '';

function toProductType(item: CollectionsItem, expirationDate: EpochMillis | undefined): Purchase['productType'] {
  if (item.recurrenceId || getProductKind(item) === 'Pass') return 'paid subscription';
  if (getProductKind(item).endsWith('Consumable')) return 'consumable';
  return expirationDate === undefined ? 'non consumable' : 'non renewing subscription';
}

/** One that the developer manages is in the collection until it is reported as fulfilled. */
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

function toTransactions(item: CollectionsItem, purchase: Purchase, context: MappingContext): Transaction[] {
  const { transactionId, purchaseId, productId, platform, sandbox, purchaseDate } = purchase;
  if (purchaseDate === undefined) return [];
  const { offerId, expirationDate, isTrialPeriod, endedAt } = purchase;
  const refundedAt = item.status === 'Revoked' ? endedAt : undefined;
  return [
    {
      transactionId,
      purchaseId,
      productId,
      platform,
      sandbox,
      purchaseDate,
      ...omitUndefined({ offerId, expirationDate, isTrialPeriod, refundedAt }),
      ...toReportedAmount(context, isTrialPeriod),
    },
  ];
}
