import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis, Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { CollectionsItem } from './collections.ts';
import { type Looking, reportedIn } from './looking.ts';
import { momentOf } from './moments.ts';

const active = 'Active';

/** Why an item is not active any more; an item that came to its end needs no reason. */
const reasons: ReadonlyMap<string, CancelationReason | undefined> = new Map([
  // Most commonly because the customer asked for a refund.
  ['Revoked', 'Customer'],
  ['Banned', 'System'],
  ['Suspended', 'System'],
  ['Expired', undefined],
]);

/** What an entry of the customer's collection says; undefined for one that cannot be told from others. */
export function itemObservation(item: CollectionsItem, looking: Looking): Observation | undefined {
  const id = idOf(item);
  if (id === undefined) return undefined;
  const purchase = purchaseOf(item, prefixed('store_c', id), looking);
  const { userId, refreshToken, asOf } = looking;
  return {
    asOf,
    purchase,
    transactions: transactionsOf(item, purchase, looking),
    userTokens: userId === undefined ? [] : [userId],
    refreshToken: { ...refreshToken, productId: item.productId },
  };
}

/** The services write the id with hyphens or without. */
const idOf = ({ id, itemId }: CollectionsItem): string | undefined =>
  (id || itemId || undefined)?.replace(
    /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/i,
    '$1$2$3$4$5',
  );

function purchaseOf(item: CollectionsItem, purchaseId: string, { sandbox, asOf }: Looking): Purchase {
  const { status, skuId, quantity, trialData } = item;
  const productId = prefixed('store_c', item.productId);
  const expirationDate = momentOf(item.endDate);
  const isOver = status !== undefined && status !== null && status !== active;
  return {
    purchaseId,
    transactionId: transactionIdOf(item) ?? purchaseId,
    productId,
    platform: 'store_c',
    sandbox,
    ...defined({
      productType: typeOf(item, expirationDate),
      offerId: skuId ? `${productId}#${skuId}` : undefined,
      purchaseDate: momentOf(item.acquiredDate),
      expirationDate,
      endedAt: isOver ? endOf(item, expirationDate, asOf) : undefined,
      cancelationReason: isOver ? reasonOf(status) : undefined,
      isTrialPeriod: trialData?.isInTrialPeriod ?? undefined,
      isConsumed: isConsumed(item),
      // What is left of a consumable, not what was once bought of it.
      quantity: quantity ?? undefined,
    }),
  };
}

/** Some services write a transaction that there is not as a GUID of zeros. */
function transactionIdOf({ transactionId }: CollectionsItem): string | undefined {
  return transactionId && /[^0-]/.test(transactionId) ? prefixed('store_c', transactionId) : undefined;
}

const kindOf = ({ productKind, productType }: CollectionsItem): string => productKind || productType || '';

function typeOf(item: CollectionsItem, expirationDate: Millis | undefined): Purchase['productType'] {
  if (item.recurrenceId || kindOf(item) === 'Pass') return 'paid subscription';
  if (kindOf(item).endsWith('Consumable')) return 'consumable';
  return expirationDate === undefined ? 'non consumable' : 'non renewing subscription';
}

/** One that the developer manages is in the collection until it is reported as fulfilled. */
function isConsumed(item: CollectionsItem): boolean | undefined {
  const kind = kindOf(item);
  if (kind === 'UnmanagedConsumable') return false;
  return kind === 'Consumable' && typeof item.quantity === 'number' ? item.quantity === 0 : undefined;
}

const reasonOf = (status: string): CancelationReason | undefined =>
  reasons.has(status) ? reasons.get(status) : 'Unknown';

function endOf(
  { status, modifiedDate }: CollectionsItem,
  expirationDate: Millis | undefined,
  asOf: Millis,
): Millis | undefined {
  if (status === 'Expired' && expirationDate !== undefined && expirationDate <= asOf) return undefined;
  const modifiedAt = momentOf(modifiedDate);
  return modifiedAt !== undefined && modifiedAt <= asOf ? modifiedAt : asOf;
}

function transactionsOf(item: CollectionsItem, purchase: Purchase, looking: Looking): Transaction[] {
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
      ...defined({ offerId, expirationDate, isTrialPeriod, refundedAt }),
      ...reportedIn(looking, isTrialPeriod),
    },
  ];
}
