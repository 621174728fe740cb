import type { App } from '../apps/app.ts';
import type { Catalogue } from '../purchases/catalogue.ts';
import { isActive, type Purchase } from '../purchases/purchase.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import { withoutPlatform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { lastVerifiedWarning } from '../stores/api-errors.ts';
import type { Store, ValidationRequest } from '../stores/store.ts';
import { listUsedTrials } from '../stores/used-trials.ts';
import { addProductsOfGroups } from './ineligible-products.ts';
import type { ValidationOutcome } from './validation-outcome.ts';

interface LastVerifiedContext {
  readonly app: App;
  readonly store: Store;
  readonly request: ValidationRequest;
  readonly purchases: Pick<PurchaseRepository, 'find' | 'listTransactions'>;
  readonly catalogue: Catalogue | undefined;
  readonly now: EpochMillis;
}

/**
 * Returns the last verified state of the requested purchase if the store is unavailable and the purchase is active and
 * of the requested product. Writes nothing and creates no claim. Otherwise throws the failure again.
 */
export async function loadLastVerifiedState(
  failure: unknown,
  { app, store, request, purchases, catalogue, now }: LastVerifiedContext,
): Promise<ValidationOutcome> {
  const purchaseId = isUnavailable(failure) ? store.identifyPurchase?.(request) : undefined;
  const stored = purchaseId === undefined ? undefined : await purchases.find(app.name, purchaseId);
  if (!stored || !isRequestedProduct(stored.purchase, request) || !isActive(stored.purchase, now)) throw failure;
  // Only a validation can entitle another user to the purchase.
  const { applicationUsername: username } = request;
  if (username !== undefined && !stored.entitledUsers.includes(username)) throw failure;
  const transactions = await purchases.listTransactions(app.name, [stored.purchase.purchaseId]);
  const { platform } = store;
  const validation = {
    id: withoutPlatform(stored.purchase.productId),
    scope: 'product' as const,
    observations: [],
    purchaseId: stored.purchase.purchaseId,
    nativeTransaction: {},
    ineligibleForIntroPrice: addProductsOfGroups(listUsedTrials(transactions), {
      platform,
      ...omitUndefined({ products: request.products, catalogue }),
    }),
    warning: lastVerifiedWarning,
  };
  return { validation, purchases: [stored], requestedPurchase: stored };
}

/** Whether the evidence is about the requested product. `id` can have a platform prefix and, at Stripe, an offer. */
const isRequestedProduct = ({ productId }: Purchase, { id }: ValidationRequest): boolean =>
  [id, withoutPlatform(id).split('#', 1)[0]].includes(withoutPlatform(productId));

const isUnavailable = (failure: unknown): boolean =>
  failure instanceof ServiceError && failure.code === 'ConnectionFailed';
