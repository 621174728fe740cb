import type { App } from '../apps/app.ts';
import type { Catalogue } from '../apps/catalogue.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { withoutPlatform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { isActive, type Purchase } from '../purchases/purchase.ts';
import { findPurchase, listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import { lastVerifiedWarning } from '../stores/last-verified-warning.ts';
import type { Store, ValidationRequest } from '../stores/store.ts';
import { listUsedTrials } from '../stores/used-trials.ts';
import { addProductsOfGroups } from './ineligible-products.ts';
import type { ValidationOutcome } from './validation-outcome.ts';

interface LastVerifiedContext {
  readonly app: App;
  readonly store: Store;
  readonly request: ValidationRequest;
  readonly catalogue: Catalogue | undefined;
}

/**
 * Returns the last verified state of the requested purchase if the store is unavailable and the purchase is active and
 * of the requested product. Writes nothing and creates no claim. Otherwise throws the failure again.
 */
export async function loadLastVerifiedState(
  service: Service,
  failure: unknown,
  { app, store, request, catalogue }: LastVerifiedContext,
): Promise<ValidationOutcome> {
  const purchaseId = isUnavailable(failure) ? store.identifyPurchase?.(request) : undefined;
  const stored = purchaseId === undefined ? undefined : await findPurchase(service, app.name, purchaseId);
  if (!stored || !isRequestedProduct(stored.purchase, request) || !isActive(stored.purchase, service.now()))
    throw failure;
  // Only a validation can entitle another user to the purchase.
  const { applicationUsername: username } = request;
  if (username !== undefined && !stored.entitledUsers.includes(username)) throw failure;
  const transactions = await listTransactionsOfPurchases(service, app.name, [stored.purchase.purchaseId]);
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

/** `id` can have a platform prefix and, at Stripe, an offer. */
const isRequestedProduct = ({ productId }: Purchase, { id }: ValidationRequest): boolean =>
  [id, withoutPlatform(id).split('#', 1)[0]].includes(withoutPlatform(productId));

const isUnavailable = (failure: unknown): boolean =>
  failure instanceof ServiceError && failure.code === 'ConnectionFailed';
