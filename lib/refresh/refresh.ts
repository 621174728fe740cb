import * as v from 'valibot';
import type { App } from '../apps/app.ts';
import type { Recorded, Refreshable } from '../db/purchases.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { logFailure } from '../events/log-failure.ts';
import { noteRecorded } from '../events/note-recorded.ts';
import { newRecorder, type Recorder } from '../events/recorder.ts';
import { recordWork } from '../events/work.ts';
import { askingOf } from '../http/asking.ts';
import { namedUser } from '../incoming/named-user.ts';
import type { Observation } from '../purchases/observation.ts';

/** A purchase whose time has come, on its way through the queue. */
export const RefreshOrder = v.object({ app: v.string(), purchaseId: v.string() });
export type RefreshOrder = v.InferOutput<typeof RefreshOrder>;

interface Refreshing {
  readonly app: App;
  readonly recorder: Recorder;
  readonly deps: Deps;
}

/**
 * Asks the store for the state of a purchase by the service's own accord, and takes in what it shows. What cannot be asked
 * is left to the clock: the date of a subscription has passed, or it is asked again later.
 */
export async function refreshPurchase({ app: name, purchaseId }: RefreshOrder, deps: Deps): Promise<void> {
  const app = await deps.cachedApps.find(name);
  const present = await deps.purchases.refreshable(name, purchaseId);
  if (!app || app.deletedAt !== undefined || !present) return;
  const recorder = newRecorder({ type: 'receipt.refreshed', date: deps.now() });
  const refreshing = { app, recorder, deps };
  const asked = await observations(present, refreshing);
  const recorded = await recordAll(asked.observed, purchaseId, refreshing);
  noteRecorded(recorder, recorded, purchaseId);
  const [user] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (user !== undefined) recorder.user(user);
  const { failure } = asked;
  if (failure) logFailure({ app: name, purchaseId, eventId: recorder.eventId }, failure);
  await recordWork(name, { recorder, request: { route: 'refresh', purchaseId }, ...(failure && { failure }) }, deps);
}

async function observations(
  { purchase, refreshToken }: Refreshable,
  { app, recorder, deps }: Refreshing,
): Promise<{ observed: readonly Observation[]; failure?: ServiceError }> {
  const { platform } = purchase;
  const store = await deps.store(platform);
  if (!refreshToken || !store.refresh) return { observed: [] };
  try {
    const asking = await askingOf(app.name, platform, { event: recorder, deps });
    return { observed: await store.refresh(refreshToken, asking) };
  } catch (thrown) {
    const failure = ServiceError.from(thrown);
    recorder.note({ refreshFailures: [{ platform, reason: failure.message }] });
    return { observed: [], failure };
  }
}

/** The purchase that was to be refreshed is written even when the store shows nothing of it: its next look is planned. */
async function recordAll(
  observed: readonly Observation[],
  purchaseId: string,
  { app, deps }: Refreshing,
): Promise<Recorded[]> {
  const happening = { cause: 'refresh', strategy: app.strategy } as const;
  const recorded: (Recorded | undefined)[] = [];
  for (const look of observed) {
    const named = await namedUser(app.name, look, deps.aliases);
    const seen = { ...happening, ...named, observed: look, now: deps.now() };
    recorded.push(await deps.purchases.record(app.name, look.purchase.purchaseId, seen));
  }
  if (!observed.some(({ purchase }) => purchase.purchaseId === purchaseId)) {
    recorded.push(await deps.purchases.record(app.name, purchaseId, { ...happening, now: deps.now() }));
  }
  return recorded.filter((result) => result !== undefined);
}
