import { findCachedApp } from '../apps/app-table.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { groupByReplacement } from '../purchases/group-by-replacement.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Observation } from '../purchases/observation.ts';
import { endRefreshSchedule, findRefreshState, requirePurchase } from '../purchases/purchase-table.ts';
import { type RecordPurchaseResult, recordPurchase } from '../purchases/record-purchase.ts';
import type { PurchaseRefreshState } from '../purchases/stored-purchase.ts';
import { findStoreUser } from '../purchases/user-alias-table.ts';
import { containsAliasForm } from '../purchases/user-aliases.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { Store } from '../stores/store.ts';
import type { StoreContext } from '../stores/store-context.ts';
import { tryFulfill } from '../stores/try-fulfill.ts';
import type { PurchaseMessage } from './refresh-message.ts';

const noObservations: FetchResult = { observations: [] };

interface RefreshContext extends OperationContext {
  /** Reason of the change at the store if the caller has caused it. */
  readonly storeReason?: NotificationReason;
  /** Customer whom the caller has named to the store. The service can meet the customer for the first time. */
  readonly storeUser?: string | undefined;
}

/**
 * Queries the store for a purchase and records the result. If the store is unavailable, the refresh is recorded as
 * failed: the next one is scheduled, or the expiration date takes effect. Returns false then. Ends the schedule of a
 * deleted app.
 */
export async function refreshPurchase(service: Service, { appName, purchaseId }: PurchaseMessage): Promise<boolean> {
  const app = await findCachedApp(service, appName);
  if (app?.deletedAt !== undefined) await endRefreshSchedule(service, appName, purchaseId);
  if (!app || app.deletedAt !== undefined) return true;
  const refreshState = await findRefreshState(service, appName, purchaseId);
  if (!refreshState) return true;
  const recorder = createEventRecorder({ type: 'receipt.refreshed', date: service.now() });
  const context = { app, recorder, service };
  const result = (await fetchObservations(context, refreshState)) ?? noObservations;
  const { failure } = result;
  const recorded = await recordRefresh(context, result, purchaseId);
  addRecordedPurchases(recorder, recorded, purchaseId);
  const [username] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (username !== undefined) recorder.setUser(username);
  if (failure) logError({ worker: 'refresh-purchase', app: appName, purchaseId, eventId: recorder.eventId }, failure);
  await recordWorkerEvent(service, appName, {
    recorder,
    request: { route: 'refresh', params: { purchaseId } },
    ...(failure && { failure }),
  });
  return failure === undefined;
}

/**
 * Queries the store for a purchase immediately, for an API client, and records the result in the event of the request.
 * The schedule does not change if the store is unavailable. Throws `ResourceNotFound` for an unknown purchase,
 * `InvalidPayload` for a purchase that cannot be refreshed, and the error of the store.
 */
export async function refreshPurchaseNow(context: RefreshContext, purchaseId: string): Promise<void> {
  const { app, recorder, service } = context;
  const refreshState = await findRefreshState(service, app.name, purchaseId);
  requirePurchase(refreshState);
  recorder.addTag(purchaseId, '_P');
  const result = await fetchObservations(context, refreshState);
  if (!result)
    throw new ServiceError('InvalidPayload', 'The purchase cannot be refreshed: its store cannot be queried for it.');
  if (result.failure) throw result.failure;
  if (!hasObservation(result.observations, purchaseId))
    throw new ServiceError('ResourceNotFound', 'The store has no current data about the purchase.');
  const recorded = await recordAndFulfill(context, result);
  addRecordedPurchases(recorder, recorded, purchaseId);
  const [username] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (username !== undefined) recorder.setUser(username);
}

interface FetchResult {
  readonly observations: readonly Observation[];
  /** The store that returned the observations. */
  readonly source?: { readonly store: Store; readonly storeContext: StoreContext };
  readonly failure?: ServiceError;
}

/** Returns undefined if the store cannot be queried for the purchase. */
async function fetchObservations(
  { app, recorder, service }: RefreshContext,
  { purchase, refreshToken }: PurchaseRefreshState,
): Promise<FetchResult | undefined> {
  const { platform } = purchase;
  const store = await loadStore(platform);
  if (!refreshToken || !store.refresh) return undefined;
  try {
    const storeContext = await createStoreContext(service, app.name, { platform, recorder });
    return { observations: await store.refresh(refreshToken, storeContext), source: { store, storeContext } };
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    return { observations: [], failure };
  }
}

const hasObservation = (observations: readonly Observation[], purchaseId: string): boolean =>
  observations.some(({ purchase }) => purchase.purchaseId === purchaseId);

/** Records the refreshed purchase even without an observation of it, because that schedules the next refresh. */
async function recordRefresh(
  context: RefreshContext,
  result: FetchResult,
  purchaseId: string,
): Promise<RecordPurchaseResult[]> {
  const recorded = await recordAndFulfill(context, result);
  if (hasObservation(result.observations, purchaseId)) return recorded;
  const { app, recorder, service } = context;
  const { eventId } = recorder;
  const awaitsCredentials = result.failure?.code === ('NeedMoreData' satisfies ErrorCode);
  const input = { trigger: 'refresh', awaitsCredentials, eventId, strategy: app.strategy, now: service.now() } as const;
  const scheduled = await recordPurchase(service, app.name, purchaseId, input);
  return scheduled ? [...recorded, scheduled] : recorded;
}

/** Records the observations, then acknowledges their purchases at the store if the settings request it. */
async function recordAndFulfill(
  context: RefreshContext,
  { observations, source }: FetchResult,
): Promise<RecordPurchaseResult[]> {
  const recorded = await recordObservations(context, observations);
  if (!source) return recorded;
  const { store, storeContext } = source;
  const fulfilled = await tryFulfill(store, { observations }, { storeContext, recorder: context.recorder });
  return [...recorded, ...(await recordObservations(context, fulfilled))];
}

async function recordObservations(
  { app, recorder: { eventId }, service, storeReason, storeUser: namedUser }: RefreshContext,
  observations: readonly Observation[],
): Promise<RecordPurchaseResult[]> {
  const update = { trigger: 'refresh', eventId, strategy: app.strategy, ...(storeReason && { storeReason }) } as const;
  const results: (RecordPurchaseResult | undefined)[] = [];
  for (const observation of groupByReplacement(observations).flat()) {
    const isNamed = namedUser !== undefined && containsAliasForm(observation.userAliases, namedUser);
    const storeUser = (await findStoreUser(service, app.name, observation)) ?? (isNamed ? namedUser : undefined);
    const input = {
      ...update,
      ...omitUndefined({ storeUser }),
      observation,
      now: service.now(),
    };
    results.push(await recordPurchase(service, app.name, observation.purchase.purchaseId, input));
  }
  return results.filter((result) => result !== undefined);
}
