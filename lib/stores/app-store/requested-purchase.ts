import { withoutPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { getAccessEnd, isActive, type Purchase } from '../../purchases/purchase.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { Evidence } from './evidence.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { hasTransactionId } from './sales.ts';

/** An observation and the transactions it was derived from. */
export interface MappedPurchase {
  readonly group: TransactionGroup;
  readonly observation: Observation;
  /**
   * The purchase in the observation, or the stored purchase if the App Store is unavailable and the evidence is not
   * newer.
   */
  readonly current: Purchase;
}

interface RequestSubject {
  readonly request: ValidationRequest;
  readonly evidence: Evidence;
  readonly scope: StoreValidation['scope'];
  readonly now: EpochMillis;
}

/**
 * Finds the requested purchase. For scope `product` it must be of that product. The signed transaction takes
 * precedence, then `transaction.id`, which is a transaction id or, from some clients, a product id.
 */
export function findRequestedPurchase(
  purchases: readonly MappedPurchase[],
  { request, evidence, scope, now }: RequestSubject,
): MappedPurchase | undefined {
  const { id } = request.transaction;
  const candidates = scope === 'product' ? filterByProduct(purchases, request.id) : purchases;
  const signedId = evidence.productId === undefined ? undefined : evidence.lookupId;
  return (
    candidates.find(({ group }) => group.originalTransactionId === signedId) ??
    candidates.find(({ group }) => group.transactions.some((transaction) => hasTransactionId(transaction, id))) ??
    chooseBest(scope === 'product' ? candidates : filterByProduct(purchases, id), now)
  );
}

const filterByProduct = (purchases: readonly MappedPurchase[], productId: unknown): MappedPurchase[] =>
  purchases.filter(({ current }) => withoutPlatform(current.productId) === productId);

/** An active purchase takes precedence, then the latest expiration, then the latest purchase date. */
function chooseBest(purchases: readonly MappedPurchase[], now: EpochMillis): MappedPurchase | undefined {
  return [...purchases].sort((a, b) => comparePurchases(a.current, b.current, now))[0];
}

const noExpiration = Number.MAX_SAFE_INTEGER;

const comparePurchases = (a: Purchase, b: Purchase, now: EpochMillis): number =>
  Number(isActive(b, now)) - Number(isActive(a, now)) ||
  (b.expirationDate ?? noExpiration) - (a.expirationDate ?? noExpiration) ||
  (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0);

/**
 * Maximum time in which Apple retries a failed payment, the longest is for a plan with a commitment. After that, a
 * subscription has ended or was bought again.
 * @see https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn
 */
const billingRetryWindowMs = 90 * dayMs;

/** The evidence or the table has the current state of all purchases. */
export const isEveryPurchaseCurrent = (purchases: readonly MappedPurchase[], now: EpochMillis): boolean =>
  !purchases.some((purchase) => mayHaveRenewed(purchase, now));

/** A subscription ended so recently that it may have been renewed since. */
function mayHaveRenewed({ group, current }: MappedPurchase, now: EpochMillis): boolean {
  if (group.latest.expiresDate === undefined) return false;
  const end = getAccessEnd(current);
  return end <= now && now - end < billingRetryWindowMs;
}
