import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { getReportedEnd, isUnpaid, type Purchase } from './purchase.ts';

/** The earlier subscriptions that a new purchase can continue. */
export interface EarlierPurchases {
  /** The purchase that the store links to the new one. */
  readonly replaced?: Purchase | undefined;
  /** The customer's purchases of the same subscription group, for stores without a link. */
  readonly ofGroup?: readonly Purchase[] | undefined;
}

/** A new purchase resumes a subscription of the customer that had expired before. */
export function isResubscription(purchase: Purchase, { replaced, ofGroup = [] }: EarlierPurchases): boolean {
  const { purchaseDate } = purchase;
  if (purchaseDate === undefined) return false;
  // The change to the product was chosen for the renewal.
  if (replaced) return replaced.renewalProductId !== purchase.productId && hasExpired(replaced, purchaseDate);
  const earlier = ofGroup.filter((other) => other.purchaseDate !== undefined && other.purchaseDate < purchaseDate);
  return (
    earlier.some((other) => hasExpired(other, purchaseDate)) &&
    earlier.every((other) => !other.isPaused && getReportedEnd(other) <= purchaseDate)
  );
}

/**
 * No purchase that replaced it continued its access. A subscription whose first payment was not observed has not ended
 * either.
 */
const hasExpired = (purchase: Purchase, date: EpochMillis): boolean =>
  !isUnpaid(purchase) && purchase.cancelationReason !== 'System.Replaced' && getReportedEnd(purchase) <= date;

/** Returns the subscription group of the product in the app's catalogue. */
export const findGroup = (catalogue: Catalogue | undefined, { productId }: Purchase): string | undefined =>
  findCatalogueProduct(catalogue, productId)?.group;

/** Selects the other paid purchases of the subscription group, in any store. Sandbox and production are separate. */
export function selectPurchasesOfGroup(
  purchase: Purchase,
  owned: readonly Purchase[],
  catalogue: Catalogue | undefined,
): Purchase[] {
  const group = findGroup(catalogue, purchase);
  return owned.filter(
    (other) =>
      group !== undefined &&
      findGroup(catalogue, other) === group &&
      other.purchaseId !== purchase.purchaseId &&
      other.sandbox === purchase.sandbox &&
      !isUnpaid(other),
  );
}
