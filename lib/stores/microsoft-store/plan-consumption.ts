import * as v from 'valibot';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { Purchase } from '../../purchases/purchase.ts';
import { isRepeatedValidation, withServiceConsumption } from '../../purchases/service-consumption.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { needsConsumption } from './fulfill.ts';
import type { LookupRequest } from './lookup.ts';
import { parseStoredSettings } from './settings.ts';

/** A consumable before the service consumed it. A developer-managed one then leaves the customer's collection. */
const PlannedConsumption = v.object({
  asOf: v.number(),
  purchase: Purchase,
  nativeTransaction: v.record(v.string(), v.unknown()),
});

type ConsumptionContext = Pick<StoreContext, 'now' | 'settings' | 'storedResults'>;

/**
 * Marks the requested consumable for `fulfill`, which consumes it, and keeps it for a client that loses the response:
 * the same evidence then has the same response.
 */
export async function planConsumption(
  validation: StoreValidation,
  { applicationUsername: username }: ValidationRequest,
  { lookup, context }: { readonly lookup: LookupRequest; readonly context: ConsumptionContext },
): Promise<StoreValidation> {
  if (!parseStoredSettings(context.settings).consume) return validation;
  const { observations, purchaseId, nativeTransaction } = validation;
  const requested = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  const key = toEvidenceKey(lookup, username);
  if (!requested || !needsConsumption(requested)) {
    const result = v.safeParse(PlannedConsumption, await context.storedResults?.find(key));
    return result.success ? repeatResponse(validation, result.output, { username, context }) : validation;
  }
  const purchase = withServiceConsumption(requested.purchase, username, context.now());
  // Only the key identifies the user: nothing would find a username in the result when the user is erased.
  const unnamed = withServiceConsumption(requested.purchase, undefined, context.now());
  await context.storedResults?.save(key, { asOf: requested.asOf, purchase: unnamed, nativeTransaction });
  return {
    ...validation,
    observations: observations.map((item) => (item === requested ? { ...requested, purchase } : item)),
  };
}

/** The store has verified the key, so the user id in it identifies the customer's store account. */
const toEvidenceKey = ({ keys: { collections }, product }: LookupRequest, username = ''): string =>
  JSON.stringify(['consumption', collections?.userId ?? collections?.key ?? '', product.id, username]);

/** Adds the consumed purchase unless the store still lists it. */
function repeatResponse(
  validation: StoreValidation,
  { asOf, purchase: unnamed, nativeTransaction }: v.InferOutput<typeof PlannedConsumption>,
  { username, context }: { readonly username: string | undefined; readonly context: ConsumptionContext },
): StoreValidation {
  const purchase = withUsername(unnamed, username);
  const { purchaseId } = purchase;
  if (!isRepeatedValidation({ ...purchase, isConsumed: true }, username, context.now())) return validation;
  const isListed = validation.observations.some((observation) => observation.purchase.purchaseId === purchaseId);
  const consumed = { asOf, purchase, transactions: [], userAliases: [] };
  return {
    ...validation,
    purchaseId,
    nativeTransaction,
    observations: isListed ? validation.observations : [...validation.observations, consumed],
  };
}

const withUsername = (purchase: Purchase, username: string | undefined): Purchase =>
  purchase.serviceConsumption
    ? { ...purchase, serviceConsumption: { ...purchase.serviceConsumption, ...omitUndefined({ username }) } }
    : purchase;
