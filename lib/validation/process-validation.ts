import type { OperationContext } from '../events/operation-context.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { restoreBeforeConsumption } from '../purchases/service-consumption.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import { listCheckoutPlatforms } from '../stores/checkout-platform.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { ValidationRequest } from '../stores/store.ts';
import { tryFulfill } from '../stores/try-fulfill.ts';
import { listUsedTrials } from '../stores/used-trials.ts';
import { addProductsOfGroups } from './ineligible-products.ts';
import { loadLastVerifiedState } from './last-verified-state.ts';
import { recordObservations } from './record-observations.ts';
import type { ValidationOutcome } from './validation-outcome.ts';

export interface ValidationContext extends OperationContext {
  /** The evidence alone does not suffice. */
  readonly requiresQuery?: boolean;
}

/**
 * Validates evidence with its store, records and claims the observed purchases, then fulfills them at the store if the
 * settings request it. Returns the last verified state while the store is unavailable.
 */
export async function processValidation(
  context: ValidationContext,
  request: ValidationRequest,
  platform: Platform,
): Promise<ValidationOutcome> {
  const { app, recorder, service, requiresQuery = false } = context;
  const store = await loadStore(platform);
  const storeContext = { ...(await createStoreContext(service, app.name, { platform, recorder })), requiresQuery };
  const { catalogue } = storeContext;
  const validation = await store.validate(request, storeContext).catch(async (failure: unknown) => {
    return await loadLastVerifiedState(service, failure, { app, store, request, catalogue });
  });
  if ('purchases' in validation) return validation;
  const recorded = await recordObservations({ ...context, request, validation }, validation.observations);
  const changed = await tryFulfill(store, validation, { storeContext, recorder });
  const fulfilled = await recordObservations({ ...context, request }, changed);
  const fulfilledById = new Map(fulfilled.map((entitled) => [entitled.purchase.purchaseId, entitled]));
  const toResponsePurchase = ({ purchase, entitledUsers }: EntitledPurchase): EntitledPurchase => ({
    entitledUsers,
    purchase: restoreBeforeConsumption(purchase, request.applicationUsername, service.now()),
  });
  const requestedPurchase = recorded.find(({ purchase }) => purchase.purchaseId === validation.purchaseId);
  const listed = recorded.filter(({ purchase }) => !validation.unlistedPurchaseIds?.includes(purchase.purchaseId));
  const storedOnly = validation.isOffline ? await listOtherPurchases(recorded, { request, platform, context }) : [];
  const introProducts = listUsedTrials(recorded.flatMap(({ transactions }) => transactions));
  const ineligibleForIntroPrice = addProductsOfGroups(
    [...new Set([...validation.ineligibleForIntroPrice, ...introProducts])],
    { platform, ...omitUndefined({ products: request.products, catalogue }) },
  );
  return {
    validation: { ...validation, ineligibleForIntroPrice },
    purchases: [
      ...listed.map((entitled) => toResponsePurchase(fulfilledById.get(entitled.purchase.purchaseId) ?? entitled)),
      ...storedOnly,
    ],
    ...(requestedPurchase && { requestedPurchase: toResponsePurchase(requestedPurchase) }),
  };
}

/**
 * Lists the deciding purchases of the customer at the store that were not recorded now, without consumables: an app
 * credits a consumable again if its evidence does not contain it.
 */
async function listOtherPurchases(
  recorded: readonly EntitledPurchase[],
  { request, platform, context }: { request: ValidationRequest; platform: Platform; context: ValidationContext },
): Promise<EntitledPurchase[]> {
  const { applicationUsername } = request;
  if (applicationUsername === undefined) return [];
  const recordedIds = new Set(recorded.map(({ purchase }) => purchase.purchaseId));
  const stored = await listRepresentativePurchases(context.service, context.app.name, applicationUsername);
  return stored
    .filter((purchase) => purchase.platform === platform && purchase.productType !== 'consumable')
    .filter(({ purchaseId }) => !recordedIds.has(purchaseId))
    .map((purchase) => ({ purchase, entitledUsers: [applicationUsername] }));
}

/**
 * Validates evidence at the platform, or at both Stripe accounts for Stripe, because an app can sell through both.
 * Returns the outcome of the first account that does not reject the evidence. Throws the rejection of the first account
 * if both reject it, and any other error immediately: an unavailable store has not rejected the evidence.
 */
export async function validateAtAccounts(
  context: ValidationContext,
  request: ValidationRequest,
  platform: Platform,
): Promise<ValidationOutcome> {
  const { app, service } = context;
  if (platform !== platformTokens.stripe) return await processValidation(context, request, platform);
  const [account, otherAccount] = await listCheckoutPlatforms(service, app.name);
  try {
    return await processValidation(context, request, account);
  } catch (rejection) {
    if (!isRejection(rejection) || otherAccount === undefined) throw rejection;
    return await processValidation(context, request, otherAccount).catch((error: unknown) => {
      throw isRejection(error) ? rejection : error;
    });
  }
}

const isRejection = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'InvalidPayload' || error.code === 'Forbidden');
