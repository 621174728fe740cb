import type { App } from '../apps/app.ts';
import { isActive } from '../purchases/purchase.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { withoutPlatform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { Store, ValidationRequest } from '../stores/store.ts';
import type { ValidationOutcome } from './process-validation.ts';

interface LastVerifiedContext {
  readonly app: App;
  readonly store: Store;
  readonly request: ValidationRequest;
  readonly purchases: PurchaseRepository;
  readonly now: EpochMillis;
}

/**
 * What answers while a store is out of reach: the last verified state of the purchase, as long as it gives access. It is
 * not written and claims nothing. Throws the failure again when there is no such state, or for any other failure.
 */
export async function loadLastVerifiedState(
  failure: unknown,
  { app, store, request, purchases, now }: LastVerifiedContext,
): Promise<ValidationOutcome> {
  const purchaseId = isOutage(failure) ? store.identifyPurchase?.(request) : undefined;
  const found = purchaseId === undefined ? undefined : await purchases.find(app.name, purchaseId);
  if (!found || !isActive(found.purchase, now)) throw failure;
  // Who would own it could be told by a validation, which there cannot be now.
  const { applicationUsername: username } = request;
  if (username !== undefined && !found.entitledUsers.includes(username)) throw failure;
  const validation = {
    id: withoutPlatform(found.purchase.productId),
    scope: 'product' as const,
    observations: [],
    purchaseId: found.purchase.purchaseId,
    nativeTransaction: {},
    ineligibleForIntroPrice: [],
    warning: 'The store could not be reached; this is the last verified state of the purchase.',
  };
  return { validation, purchases: [found], requestedPurchase: found };
}

const isOutage = (failure: unknown): boolean => failure instanceof ServiceError && failure.code === 'ConnectionFailed';
