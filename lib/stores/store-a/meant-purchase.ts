import type { Observation } from '../../purchases/observation.ts';
import { isActive, type Millis, type Purchase } from '../../purchases/purchase.ts';
import type { Validation, ValidationRequest } from '../store.ts';
import type { Evidence } from './evidence.ts';
import type { Line } from './lines.ts';

/** A purchase with the transactions that tell of it. */
export interface Shown {
  readonly line: Line;
  readonly observation: Observation;
}

interface Meaning {
  readonly request: ValidationRequest;
  readonly evidence: Evidence;
  readonly about: Validation['about'];
  readonly now: Millis;
}

/**
 * The purchase that a request is about: of the product that it names, else of its signed transaction, else the one that
 * `transaction.id` names, which some clients fill with a product id.
 */
export function meantPurchase(shown: readonly Shown[], { request, evidence, about, now }: Meaning): Shown | undefined {
  const { id } = request.transaction;
  const candidates = about === 'product' ? ofProduct(shown, request.id) : shown;
  const signed = evidence.productId === undefined ? undefined : evidence.customerId;
  return (
    candidates.find(({ line }) => line.originalTransactionId === signed) ??
    candidates.find(({ line }) => line.transactions.some(({ transactionId }) => transactionId === id)) ??
    best(about === 'product' ? candidates : ofProduct(shown, id), now)
  );
}

const ofProduct = (shown: readonly Shown[], productId: unknown): Shown[] =>
  shown.filter(({ line }) => line.latest.productId === productId);

/** Of several purchases of one product an active one, then the one that lasts longest, then the newest. */
function best(shown: readonly Shown[], now: Millis): Shown | undefined {
  return [...shown].sort((a, b) => preference(a.observation.purchase, b.observation.purchase, now))[0];
}

const forever = Number.MAX_SAFE_INTEGER;

const preference = (a: Purchase, b: Purchase, now: Millis): number =>
  Number(isActive(b, now)) - Number(isActive(a, now)) ||
  (b.expirationDate ?? forever) - (a.expirationDate ?? forever) ||
  (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0);
