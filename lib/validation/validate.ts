import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { Recorder } from '../events/recorder.ts';
import { askingOf } from '../http/asking.ts';
import type { Platform } from '../purchases/platform.ts';
import type { Asking, Store, Validation, ValidationRequest } from '../stores/store.ts';
import { lastVerified } from './last-verified.ts';
import { type Registered, registerObservations } from './register.ts';

export interface Validating {
  readonly app: App;
  readonly event: Recorder;
  readonly deps: Deps;
}

export interface Validated {
  readonly validation: Validation;
  /** The purchases as the table has them now, which may know more than this validation does. */
  readonly purchases: readonly Registered[];
  /** The purchase that was asked for as it came: before this service itself consumed or acknowledged it. */
  readonly asked?: Registered;
}

/**
 * Checks a receipt with its store, stores and claims what it shows, then settles it at the store where the settings say
 * so. While the store is out of reach, the last verified state answers if it can.
 */
export async function validate(
  request: ValidationRequest,
  platform: Platform,
  validating: Validating,
): Promise<Validated> {
  const { app, deps } = validating;
  const store = await deps.store(platform);
  const asking = await askingOf(app.name, platform, validating);
  const asked = await store
    .validate(request, asking)
    .catch(
      async (failure: unknown) =>
        await lastVerified(failure, { app, store, request, purchases: deps.purchases, now: deps.now() }),
    );
  if ('purchases' in asked) return asked;
  const registered = await registerObservations(asked.observations, { ...validating, request, validation: asked });
  const settled = await settle({ store, validation: asked, asking }, { ...validating, request });
  const changed = new Map(settled.map((one) => [one.purchase.purchaseId, one]));
  const meant = registered.find(({ purchase }) => purchase.purchaseId === asked.purchaseId);
  return {
    validation: asked,
    purchases: registered.map((one) => changed.get(one.purchase.purchaseId) ?? one),
    ...(meant && { asked: meant }),
  };
}

/** Acknowledges or consumes at the store. The purchase is stored by now, so a failure is told in the event and no more. */
async function settle(
  { store, validation, asking }: { store: Store; validation: Validation; asking: Asking },
  registering: Validating & { readonly request: ValidationRequest },
): Promise<Registered[]> {
  if (!store.afterStored) return [];
  const observations = await store.afterStored(validation, asking).catch((failure: unknown) => {
    registering.event.note({
      refreshFailures: [{ platform: store.platform, reason: ServiceError.from(failure).message }],
    });
    return [];
  });
  return await registerObservations(observations, registering);
}
