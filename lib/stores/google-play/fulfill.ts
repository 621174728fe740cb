import { groupBy } from '../../foundation/collections.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isActive, type Purchase } from '../../purchases/purchase.ts';
import type { FulfillmentRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getFulfillBudgetMs } from '../time-budget.ts';
import { unavailableError } from './api-errors.ts';
import type { StoredData } from './known-purchases.ts';
import { lookUpToken } from './lookup.ts';
import { createPlayApi, defaultBudgetMs, type PlayApi } from './play-api.ts';
import { type GooglePlaySettings, parseStoredSettings } from './settings.ts';

/** Time for clients to consume a purchase. One day remains for retries until Google refunds it. */
const clientConsumptionMs = 2 * dayMs;

/**
 * Acknowledges the stored purchases and consumes the planned consumption if the settings say so; otherwise the app does
 * it. Google refunds a purchase that is not acknowledged within three days.
 * @see https://developer.android.com/google/play/billing/integrate#process
 */
export async function fulfill(request: FulfillmentRequest, context: StoreContext): Promise<readonly Observation[]> {
  const { fulfillDeadline } = request;
  const { acknowledge, serviceAccount, ...settings } = parseStoredSettings(context.settings);
  const unfulfilled = listUnfulfilled(request, context.now());
  if (!acknowledge || !serviceAccount || unfulfilled.length === 0) return [];
  const play = createPlayApi({ ...settings, serviceAccount }, context, {
    budgetMs: getFulfillBudgetMs(fulfillDeadline, defaultBudgetMs, context.stopwatch),
  });
  const fulfillContext = { play, now: context.now, storedData: context };
  const fulfilled: Observation[] = [];
  for (const [token, observations] of groupBy(unfulfilled, getToken))
    fulfilled.push(...(await fulfillToken(token, observations, fulfillContext)));
  return fulfilled;
}

/** Marks the purchases that the service must acknowledge, so that they are refreshed until it succeeds. */
export const markForFulfillment = (
  observations: readonly Observation[],
  { acknowledge, serviceAccount }: GooglePlaySettings,
  now: EpochMillis,
): readonly Observation[] =>
  acknowledge && serviceAccount
    ? observations.map((observation) =>
        needsFulfillment(observation.purchase, now)
          ? { ...observation, purchase: { ...observation.purchase, awaitsFulfillment: true } }
          : observation,
      )
    : observations;

interface FulfillContext {
  readonly play: PlayApi;
  readonly now: () => EpochMillis;
  readonly storedData: StoredData;
}

/** Lists the purchases to fulfill now. A token is acknowledged as a whole: one item left to the client prevents it. */
function listUnfulfilled(request: FulfillmentRequest, now: EpochMillis): Observation[] {
  const unfulfilled = request.observations.filter(({ purchase }) => needsFulfillment(purchase, now));
  const clientTokens = unfulfilled.filter(({ purchase }) => isLeftToClient(purchase, request, now)).map(getToken);
  return unfulfilled.filter(
    (observation) => hasPlannedConsumption(observation) || !clientTokens.includes(getToken(observation)),
  );
}

/**
 * Clients neither credit nor consume a purchase that is already acknowledged. A purchase of unknown type can be a
 * consumable, whose notification arrived before the client's validation.
 */
function isLeftToClient(
  { productType, purchaseDate = 0, ...purchase }: Purchase,
  { purchaseId, clientConsumes }: FulfillmentRequest,
  now: EpochMillis,
): boolean {
  if (purchase.serviceConsumption) return false;
  if (clientConsumes !== undefined && purchase.purchaseId === purchaseId) return clientConsumes;
  const isPossibleConsumable = productType === undefined || productType === 'consumable';
  return isPossibleConsumable && now - purchaseDate < clientConsumptionMs;
}

/** The items of a purchase are acknowledged together, and consumed one by one. */
async function fulfillToken(
  token: string,
  observations: readonly Observation[],
  context: FulfillContext,
): Promise<Observation[]> {
  const fulfilled: Observation[] = [];
  for (const observation of observations.filter(hasPlannedConsumption))
    fulfilled.push(await fulfillPurchase(token, observation, context));
  const [first, ...rest] = observations.filter((observation) => !hasPlannedConsumption(observation));
  if (!first) return fulfilled;
  const acknowledged = await fulfillPurchase(token, first, context);
  const { asOf } = acknowledged;
  return [...fulfilled, acknowledged, ...rest.map((observation) => markFulfilled(observation, asOf))];
}

async function fulfillPurchase(
  token: string,
  observation: Observation,
  { play, now, storedData }: FulfillContext,
): Promise<Observation> {
  const { purchase } = observation;
  const { productType } = purchase;
  const productId = withoutPlatform(purchase.productId);
  const isSubscription = productType === 'paid subscription';
  const isFulfilled = hasPlannedConsumption(observation)
    ? await play.consume(productId, token)
    : await play.acknowledge(isSubscription ? 'subscriptions' : 'products', productId, token);
  const asOf = Math.max(now(), observation.asOf + 1);
  if (isFulfilled) return markFulfilled(observation, asOf);
  // The purchase may be acknowledged already. Only the queried state proves it: otherwise Google would refund it.
  const hints = { id: productId, type: productType ?? 'non consumable' };
  const result = await lookUpToken({ token, hints, productId, isSubscription }, { play, now: asOf, storedData });
  const current =
    typeof result === 'object' && result.observations.find((item) => item.purchase.purchaseId === purchase.purchaseId);
  if (
    !current ||
    (hasPlannedConsumption(observation) && !current.purchase.isConsumed) ||
    needsFulfillment(current.purchase, asOf)
  )
    throw unavailableError('Google rejects to acknowledge or consume the purchase');
  return current;
}

function markFulfilled(observation: Observation, asOf: EpochMillis): Observation {
  const { awaitsFulfillment: _, ...purchase } = observation.purchase;
  return {
    ...observation,
    asOf,
    purchase: { ...purchase, isAcknowledged: true, ...(hasPlannedConsumption(observation) && { isConsumed: true }) },
  };
}

const getToken = ({ purchase, refreshToken }: Observation): string =>
  refreshToken?.purchaseToken ?? withoutPlatform(purchase.purchaseId);

const hasPlannedConsumption = ({ purchase }: Observation): boolean => purchase.serviceConsumption !== undefined;

const needsFulfillment = (purchase: Purchase, now: EpochMillis): boolean =>
  isActive(purchase, now) && (purchase.serviceConsumption !== undefined || purchase.isAcknowledged === false);
