import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Platform } from '../shared/platform.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import type { Store, StoreValidation, ValidationRequest } from '../stores/store.ts';
import type { StoreContext } from '../stores/store-context.ts';
import { loadLastVerifiedState } from './last-verified-state.ts';
import { recordObservations } from './record-observations.ts';

export interface ValidationContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: Deps;
}

export interface ValidationOutcome {
  readonly validation: StoreValidation;
  /** The purchases as the table has them now, which may know more than this validation does. */
  readonly purchases: readonly EntitledPurchase[];
  /** The purchase that was asked for as it came: before this service itself consumed or acknowledged it. */
  readonly requestedPurchase?: EntitledPurchase;
}

/**
 * Checks a receipt with its store, stores and claims what it shows, then settles it at the store where the settings say
 * so. While the store is out of reach, the last verified state answers if it can.
 */
export async function processValidation(
  request: ValidationRequest,
  platform: Platform,
  context: ValidationContext,
): Promise<ValidationOutcome> {
  const { app, deps } = context;
  const store = await deps.loadStore(platform);
  const asking = await createStoreContext(app.name, platform, context);
  const validation = await store
    .validate(request, asking)
    .catch(
      async (failure: unknown) =>
        await loadLastVerifiedState(failure, { app, store, request, purchases: deps.purchases, now: deps.now() }),
    );
  if ('purchases' in validation) return validation;
  const registered = await recordObservations(validation.observations, { ...context, request, validation });
  const fulfilledPurchases = await fulfillAtStore({ store, validation, asking }, { ...context, request });
  const changed = new Map(fulfilledPurchases.map((purchase) => [purchase.purchase.purchaseId, purchase]));
  const requestedPurchase = registered.find(({ purchase }) => purchase.purchaseId === validation.purchaseId);
  return {
    validation,
    purchases: registered.map((purchase) => changed.get(purchase.purchase.purchaseId) ?? purchase),
    ...(requestedPurchase && { requestedPurchase }),
  };
}

/** Acknowledges or consumes at the store. The purchase is stored by now, so a failure is told in the event and no more. */
async function fulfillAtStore(
  { store, validation, asking: context }: { store: Store; validation: StoreValidation; asking: StoreContext },
  registering: ValidationContext & { readonly request: ValidationRequest },
): Promise<EntitledPurchase[]> {
  if (!store.fulfill) return [];
  const observations = await store.fulfill(validation, context).catch((failure: unknown) => {
    registering.recorder.addContent({
      refreshFailures: [{ platform: store.platform, reason: ServiceError.fromUnknown(failure).message }],
    });
    return [];
  });
  return await recordObservations(observations, registering);
}
