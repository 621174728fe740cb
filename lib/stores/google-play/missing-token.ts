import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isSubscription, type Purchase } from '../../purchases/purchase.ts';
import { type StoredData, toPurchaseId } from './known-purchases.ts';

/** A token that Google Play rejects, with the stored data about it. */
interface MissingToken {
  readonly token: string;
  /** The product of one of several items. */
  readonly productId?: string;
  readonly now: EpochMillis;
  readonly storedData: StoredData;
}

/**
 * Observes the end of a stored subscription whose token Google Play no longer has. It keeps a token for 60 days after
 * the expiration, so a token that is missing earlier was deleted. Returns an empty array for any other purchase.
 * @see https://developer.android.com/google/play/billing/lifecycle/subscriptions
 */
export async function observeDeletion(missing: MissingToken): Promise<Observation[]> {
  const { now } = missing;
  const observations = await observeStored(missing);
  return observations
    .filter(({ purchase }) => isStillPaid(purchase, now))
    .map((observation) => ({ ...observation, purchase: markDeleted(observation.purchase, now) }));
}

/**
 * Observes the stored purchase of a missing token as it is: a refund can be reported after Google Play deleted the
 * token.
 */
export async function observeStored({ token, productId, now, storedData }: MissingToken): Promise<Observation[]> {
  const purchaseIds = [toPurchaseId(token), ...(productId ? [toPurchaseId(token, productId)] : [])];
  const purchases = await Promise.all(
    purchaseIds.map(async (purchaseId) => await storedData.findPurchase?.(purchaseId)),
  );
  return purchases.flatMap((purchase) =>
    purchase ? [{ asOf: now, purchase, transactions: [], userAliases: [] }] : [],
  );
}

const isStillPaid = (purchase: Purchase, now: EpochMillis): boolean =>
  isSubscription(purchase) && purchase.endedAt === undefined && (purchase.expirationDate ?? now) > now;

const markDeleted = (purchase: Purchase, endedAt: EpochMillis): Purchase => ({
  ...purchase,
  endedAt,
  renewalIntent: 'Lapse',
  cancelationReason: 'System.Deleted',
});
