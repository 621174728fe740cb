import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import type { Observation } from '../purchases/observation.ts';
import type { PurchaseRefreshState } from '../purchases/purchase-repository.ts';
import type { RecordPurchaseResult } from '../purchases/record-purchase.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { resolveStoreUser } from '../store-notifications/resolve-store-user.ts';
import { createStoreContext, type StoreContextDeps } from '../stores/create-store-context.ts';
import type { RefreshMessage } from './refresh-message.ts';

export type RefreshDeps = StoreContextDeps & Pick<Deps, 'events' | 'loadStore' | 'recordPurchase' | 'userAliases'>;

interface RefreshContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: RefreshDeps;
}

/**
 * Queries the store for a purchase and records the result. If the store is unavailable, the refresh is recorded as failed:
 * the next one is scheduled, or the expiration date takes effect.
 */
export async function refreshPurchase({ appName, purchaseId }: RefreshMessage, deps: RefreshDeps): Promise<void> {
  const app = await deps.appCache.find(appName);
  const refreshState = await deps.purchases.findRefreshState(appName, purchaseId);
  if (!app || app.deletedAt !== undefined || !refreshState) return;
  const recorder = createEventRecorder({ type: 'receipt.refreshed', date: deps.now() });
  const context = { app, recorder, deps };
  const { observations, failure } = await fetchObservations(refreshState, context);
  const recorded = await recordRefresh(observations, purchaseId, context);
  addRecordedPurchases(recorder, recorded, purchaseId);
  const [username] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (username !== undefined) recorder.setUser(username);
  if (failure) logError({ worker: 'refresh-purchase', app: appName, purchaseId, eventId: recorder.eventId }, failure);
  await recordWorkerEvent(
    appName,
    { recorder, request: { route: 'refresh', params: { purchaseId } }, ...(failure && { failure }) },
    deps,
  );
}

async function fetchObservations(
  { purchase, refreshToken }: PurchaseRefreshState,
  { app, recorder, deps }: RefreshContext,
): Promise<{ observations: readonly Observation[]; failure?: ServiceError }> {
  const { platform } = purchase;
  const store = await deps.loadStore(platform);
  if (!refreshToken || !store.refresh) return { observations: [] };
  try {
    const context = await createStoreContext(app.name, platform, { recorder, deps });
    return { observations: await store.refresh(refreshToken, context) };
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    return { observations: [], failure };
  }
}

/** Records the refreshed purchase even without an observation of it, because that schedules the next refresh. */
async function recordRefresh(
  observations: readonly Observation[],
  purchaseId: string,
  { app, deps }: RefreshContext,
): Promise<RecordPurchaseResult[]> {
  const update = { trigger: 'refresh', strategy: app.strategy } as const;
  const results: (RecordPurchaseResult | undefined)[] = [];
  for (const observation of observations) {
    const storeUser = await resolveStoreUser(app.name, observation, deps.userAliases);
    const input = { ...update, ...storeUser, observation, now: deps.now() };
    results.push(await deps.recordPurchase(app.name, observation.purchase.purchaseId, input));
  }
  if (!observations.some(({ purchase }) => purchase.purchaseId === purchaseId)) {
    results.push(await deps.recordPurchase(app.name, purchaseId, { ...update, now: deps.now() }));
  }
  return results.filter((result) => result !== undefined);
}
