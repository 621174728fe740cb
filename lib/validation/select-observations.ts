import type { App } from '../apps/app.ts';
import type { Catalogue } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import type { Service } from '../foundation/service.ts';
import { attachUsdRates } from '../money/attach-usd-rates.ts';
import type { AppExchangeRates } from '../money/rates.ts';
import { isLastStrategy } from '../purchases/claims.ts';
import { selectErasedNames } from '../purchases/erased-name-table.ts';
import type { Observation } from '../purchases/observation.ts';
import { hasStateChange } from '../purchases/purchase-change.ts';
import { findObservedPurchases } from '../purchases/purchase-table.ts';
import type { ComparedPurchase, EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { StoreValidation } from '../stores/store.ts';

interface SelectionOptions {
  /** The customer who claims the purchases. */
  readonly username: string | undefined;
  readonly unlistedPurchaseIds: StoreValidation['unlistedPurchaseIds'];
}

interface SelectedObservations {
  /** The observations to record, in the original order. */
  readonly observations: readonly Observation[];
  /** Stored purchases that neither their observation nor the claim changes. */
  readonly unchanged: readonly EntitledPurchase[];
}

/** Maximum number of unlisted purchases per validation. */
const maxUnlistedPurchases = 100;

/**
 * Selects the observations to record: the complete collection, and a limited number of unlisted purchases, because a
 * store account can have thousands. Leaves out unlisted purchases that are stored and unchanged, so the next validation
 * continues. New and changed purchases take precedence over purchases without a claim of the customer.
 */
export async function selectObservations(
  { app, service }: Pick<OperationContext, 'app' | 'service'>,
  observations: readonly Observation[],
  { username, unlistedPurchaseIds = [] }: SelectionOptions,
): Promise<SelectedObservations> {
  const unlistedIds = new Set(unlistedPurchaseIds);
  const isUnlisted = ({ purchase }: Observation): boolean => unlistedIds.has(purchase.purchaseId);
  const unlisted = observations.filter(isUnlisted);
  if (unlisted.length === 0) return { observations, unchanged: [] };
  const [stored, catalogue] = await Promise.all([
    findObservedPurchases(service, app.name, unlisted, username),
    findCachedCatalogue(service, app.name),
  ]);
  const newAliases = unlisted.flatMap(({ purchase: { purchaseId }, userAliases }) =>
    userAliases.filter((alias) => !stored.get(purchaseId)?.state.userAliases.includes(alias)),
  );
  const erasedNames = await selectErasedNames(service, app.name, [...new Set(newAliases)]);
  const rules = { service, catalogue, appRates: app.exchangeRates, erasedNames };
  const compared = await Promise.all(
    unlisted.map(async (observation) => {
      const before = stored.get(observation.purchase.purchaseId);
      const isChanged = !before || (await isChangedBy(observation, before, rules));
      return { observation, before, isChanged, gainsClaim: before && isClaimNeeded(before, username, app) };
    }),
  );
  const changed = compared.filter(({ isChanged }) => isChanged);
  const unclaimed = compared.filter(({ isChanged, gainsClaim }) => !isChanged && gainsClaim);
  const selected = new Set(
    [...changed, ...unclaimed].slice(0, maxUnlistedPurchases).map(({ observation }) => observation),
  );
  return {
    observations: observations.filter((observation) => !isUnlisted(observation) || selected.has(observation)),
    unchanged: compared.flatMap(({ before, isChanged, gainsClaim }) =>
      before && !isChanged && !gainsClaim
        ? [{ purchase: before.state.purchase, entitledUsers: before.entitledUsers }]
        : [],
    ),
  };
}

/** What an observation is recorded with: see `prepareUpdates` and `omitErasedNames`. */
interface RecordingRules {
  readonly service: Service;
  readonly catalogue: Catalogue | undefined;
  readonly appRates: AppExchangeRates | undefined;
  readonly erasedNames: readonly string[];
}

async function isChangedBy(
  { refreshToken, ...observation }: Observation,
  { state }: ComparedPurchase,
  { service, catalogue, appRates, erasedNames }: RecordingRules,
): Promise<boolean> {
  if (refreshToken && state.refreshToken === undefined) return true;
  const stored = state.transactions.map(({ transaction }) => transaction);
  const transactions = await attachUsdRates(service, observation.transactions, { stored, appRates });
  const userAliases = observation.userAliases.filter((alias) => !erasedNames.includes(alias));
  return hasStateChange(state, { ...observation, transactions, userAliases }, catalogue);
}

/** With strategy `last`, a later claim can entitle the customer even if there is an earlier one. */
const isClaimNeeded = (
  { entitledUsers, hasUnusedClaim }: ComparedPurchase,
  username: string | undefined,
  { strategy }: App,
): boolean =>
  username !== undefined && !entitledUsers.includes(username) && (isLastStrategy(strategy) || !hasUnusedClaim);
