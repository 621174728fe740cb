import { withoutPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { startFulfillDeadline } from '../time-budget.ts';
import { withEstimatedAmount } from './estimated-amount.ts';
import { type LookupRequest, type LookupResult, lookUpProduct, type ObservedItem } from './lookup.ts';
import { parseLookupRequest } from './lookup-request.ts';
import { withNewestKeys } from './newest-keys.ts';
import { planConsumption } from './plan-consumption.ts';
import { createTicketError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { withStoredFacts } from './stored-facts.ts';

/**
 * Queries the customer's purchases of the product. Throws `NeedMoreData` with a service ticket if the request lacks a
 * valid StoreID key.
 */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const fulfillDeadline = startFulfillDeadline(context.stopwatch);
  const session = createSession(context);
  const lookupRequest = parseLookupRequest(request, session, context.catalogue);
  const lookup = await lookUpRetailThenSandbox(session, lookupRequest);
  if (lookup.kind === 'keyNeeded') throw await createTicketError(session, lookup.service, request);
  const requested = chooseItem(lookup.observed);
  const observations = await withStoredData(lookup.observed, session, context);
  const validation = {
    id: request.id,
    scope: 'product' as const,
    observations,
    ...(requested && { purchaseId: requested.observation.purchase.purchaseId }),
    nativeTransaction: requested?.nativeTransaction ?? {},
    ineligibleForIntroPrice: await listUsedTrials(observations, context),
    fulfillDeadline,
  };
  return await planConsumption(validation, request, { lookup: lookupRequest, context });
}

async function withStoredData(
  items: readonly ObservedItem[],
  session: MicrosoftSession,
  context: StoreContext,
): Promise<Observation[]> {
  const observations = await withStoredFacts(items, context);
  const complete = await withNewestKeys(observations, session, context);
  return complete.map(withEstimatedAmount);
}

/** Lists the products whose free trial the customer has used. Microsoft grants one trial of a product. */
async function listUsedTrials(
  observations: readonly Observation[],
  { listTransactions }: Pick<StoreContext, 'listTransactions'>,
): Promise<string[]> {
  const productIds = await Promise.all(
    observations.map(async ({ purchase, transactions }) => {
      const stored = (await listTransactions?.(purchase.purchaseId)) ?? [];
      const hasTrial = [...stored, ...transactions].some(({ isTrialPeriod }) => isTrialPeriod === true);
      return hasTrial ? [withoutPlatform(purchase.productId)] : [];
    }),
  );
  return [...new Set(productIds.flat())];
}

/** Queries retail, then the sandbox of the settings: purchases of testers exist only there. */
async function lookUpRetailThenSandbox(session: MicrosoftSession, request: LookupRequest): Promise<LookupResult> {
  const lookup = await lookUpProduct(session, request);
  const { sandboxId } = session.settings;
  if (lookup.kind === 'keyNeeded' || lookup.observed.length > 0 || sandboxId === undefined) return lookup;
  return await lookUpProduct(session, { ...request, sandboxId });
}

/** Chooses an active purchase over an expired one, then the latest. */
const chooseItem = (items: readonly ObservedItem[]): ObservedItem | undefined =>
  [...items].sort((a, b) => rank(b) - rank(a) || getStart(b) - getStart(a))[0];

const rank = ({ observation: { purchase, asOf } }: ObservedItem): number => (isExpired(purchase, asOf) ? 0 : 1);

const getStart = ({ observation }: ObservedItem): number => observation.purchase.purchaseDate ?? 0;
