import { findCatalogueProduct } from '../../apps/catalogue.ts';
import { isActive } from '../../purchases/purchase.ts';
import { isRepeatedValidation, withServiceConsumption } from '../../purchases/service-consumption.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import type { GooglePlaySettings } from './settings.ts';

interface ConsumptionContext {
  readonly settings: GooglePlaySettings;
  readonly context: Pick<StoreContext, 'catalogue' | 'findPurchase' | 'now'>;
}

type ConsumableValidation = Pick<StoreValidation, 'observations' | 'nativeTransaction' | 'purchaseId'>;

/**
 * Marks the requested consumable for `fulfill`, which consumes it. The mark is recorded before the consumption, so that
 * a repeated validation has the same response even if the service failed in between. For a repetition, restores
 * Google's response. A consumption cannot be undone and Google does not report the type of a product, so the catalogue
 * must state that it is a consumable: the word of a client is not enough.
 */
export async function planConsumption<V extends ConsumableValidation>(
  validation: V,
  { type, applicationUsername: username }: ValidationRequest,
  { settings, context }: ConsumptionContext,
): Promise<V> {
  const { observations, purchaseId, nativeTransaction } = validation;
  const requested = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  if (!requested || !settings.acknowledge || type !== 'consumable') return validation;
  const { purchase } = requested;
  const now = context.now();
  if (purchase.isConsumed) {
    const { serviceConsumption } = (await context.findPurchase?.(purchase.purchaseId)) ?? {};
    return serviceConsumption && isRepeatedValidation({ ...purchase, serviceConsumption }, username, now)
      ? { ...validation, nativeTransaction: restoreState(nativeTransaction, serviceConsumption.before) }
      : validation;
  }
  const isConsumable = findCatalogueProduct(context.catalogue, purchase.productId)?.type === 'consumable';
  if (!isActive(purchase, now) || !isConsumable) return validation;
  const planned = { ...requested, purchase: withServiceConsumption(purchase, username, now) };
  return { ...validation, observations: observations.map((item) => (item === requested ? planned : item)) };
}

/** Returns Google's response as it was before the consumption. Clients also read the states in it. */
function restoreState(
  native: StoreValidation['nativeTransaction'],
  { isAcknowledged = false }: { readonly isAcknowledged?: boolean },
): StoreValidation['nativeTransaction'] {
  const text = JSON.stringify(native);
  const restored = JSON.parse(
    text.replaceAll('"CONSUMPTION_STATE_CONSUMED"', '"CONSUMPTION_STATE_YET_TO_BE_CONSUMED"'),
  );
  return { ...restored, consumptionState: 0, acknowledgementState: Number(isAcknowledged) };
}
