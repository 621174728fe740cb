import type { Observation } from '../../purchases/observation.ts';
import { isActive, type Purchase } from '../../purchases/purchase.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { Evidence } from './evidence.ts';
import type { TransactionGroup } from './group-by-purchase.ts';

/** A purchase with the transactions that tell of it. */
export interface MappedPurchase {
  readonly group: TransactionGroup;
  readonly observation: Observation;
}

interface RequestSubject {
  readonly request: ValidationRequest;
  readonly evidence: Evidence;
  readonly about: StoreValidation['scope'];
  readonly now: EpochMillis;
}

/**
 * The purchase that a request is about: of the product that it names, else of its signed transaction, else the one that
 * `transaction.id` names, which some clients fill with a product id.
 */
export function findRequestedPurchase(
  shown: readonly MappedPurchase[],
  { request, evidence, about, now }: RequestSubject,
): MappedPurchase | undefined {
  const { id } = request.transaction;
  const candidates = about === 'product' ? filterByProduct(shown, request.id) : shown;
  const signed = evidence.productId === undefined ? undefined : evidence.lookupId;
  return (
    candidates.find(({ group }) => group.originalTransactionId === signed) ??
    candidates.find(({ group }) => group.transactions.some(({ transactionId }) => transactionId === id)) ??
    chooseBest(about === 'product' ? candidates : filterByProduct(shown, id), now)
  );
}

const filterByProduct = (shown: readonly MappedPurchase[], productId: unknown): MappedPurchase[] =>
  shown.filter(({ group }) => group.latest.productId === productId);

/** Of several purchases of one product an active one, then the one that lasts longest, then the newest. */
function chooseBest(shown: readonly MappedPurchase[], now: EpochMillis): MappedPurchase | undefined {
  return [...shown].sort((a, b) => comparePurchases(a.observation.purchase, b.observation.purchase, now))[0];
}

const noExpiration = Number.MAX_SAFE_INTEGER;

const comparePurchases = (a: Purchase, b: Purchase, now: EpochMillis): number =>
  Number(isActive(b, now)) - Number(isActive(a, now)) ||
  (b.expirationDate ?? noExpiration) - (a.expirationDate ?? noExpiration) ||
  (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0);
