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
import { createStoreContext } from '../stores/create-store-context.ts';
import type { RefreshMessage } from './refresh-message.ts';

interface RefreshContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: Deps;
}

/**
 * Asks the store for the state of a purchase by the service's own accord, and takes in what it shows. What cannot be asked
 * is left to the clock: the date of a subscription has passed, or it is asked again later.
 */
export async function refreshPurchase({ appName: name, purchaseId }: RefreshMessage, deps: Deps): Promise<void> {
  const app = await deps.appCache.find(name);
  const refreshState = await deps.purchases.findRefreshState(name, purchaseId);
  if (!app || app.deletedAt !== undefined || !refreshState) return;
  const recorder = createEventRecorder({ type: 'receipt.refreshed', date: deps.now() });
  const refreshing = { app, recorder, deps };
  const fetched = await fetchObservations(refreshState, refreshing);
  const recorded = await recordRefreshed(fetched.observed, purchaseId, refreshing);
  addRecordedPurchases(recorder, recorded, purchaseId);
  const [user] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (user !== undefined) recorder.setUser(user);
  const { failure } = fetched;
  if (failure) logError({ worker: 'refresh-purchase', app: name, purchaseId, eventId: recorder.eventId }, failure);
  await recordWorkerEvent(
    name,
    { recorder, request: { route: 'refresh', purchaseId }, ...(failure && { failure }) },
    deps,
  );
}

async function fetchObservations(
  { purchase, refreshToken }: PurchaseRefreshState,
  { app, recorder, deps }: RefreshContext,
): Promise<{ observed: readonly Observation[]; failure?: ServiceError }> {
  const { platform } = purchase;
  const store = await deps.loadStore(platform);
  if (!refreshToken || !store.refresh) return { observed: [] };
  try {
    const context = await createStoreContext(app.name, platform, { recorder, deps });
    return { observed: await store.refresh(refreshToken, context) };
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    return { observed: [], failure };
  }
}

/** The purchase that was to be refreshed is written even when the store shows nothing of it: its next look is planned. */
async function recordRefreshed(
  observations: readonly Observation[],
  purchaseId: string,
  { app, deps }: RefreshContext,
): Promise<RecordPurchaseResult[]> {
  const update = { trigger: 'refresh', strategy: app.strategy } as const;
  const recorded: (RecordPurchaseResult | undefined)[] = [];
  for (const observation of observations) {
    const storeUser = await resolveStoreUser(app.name, observation, deps.userAliases);
    const seen = { ...update, ...storeUser, observation, now: deps.now() };
    recorded.push(await deps.recordPurchase(app.name, observation.purchase.purchaseId, seen));
  }
  if (!observations.some(({ purchase }) => purchase.purchaseId === purchaseId)) {
    recorded.push(await deps.recordPurchase(app.name, purchaseId, { ...update, now: deps.now() }));
  }
  return recorded.filter((result) => result !== undefined);
}
