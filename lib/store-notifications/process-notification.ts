import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import type { Observation } from '../purchases/observation.ts';
import type { RecordPurchaseResult } from '../purchases/record-purchase.ts';
import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import type { ObservedNotification, Store } from '../stores/store.ts';
import type { QueuedNotification } from './queued-notification.ts';
import { resolveStoreUser } from './resolve-store-user.ts';

/** A store that cannot be asked is asked again for about two days. */
const maxAttempts = 200;
/** From then on the log tells of each attempt, which an alarm waits for. */
const delayedAfterMs = 30 * 60 * 1000;

/**
 * Takes in what a store's message tells: its purchases as the store shows them now are recorded, once however often the
 * message comes. While the store cannot be asked the message goes back on the queue; any other failure is thrown, and
 * the platform tries again.
 */
export async function processNotification(incoming: QueuedNotification, deps: Deps): Promise<void> {
  const { platform, notification, eventId, receivedAt } = incoming;
  const app = await deps.appCache.find(incoming.appName);
  if (!app || app.deletedAt !== undefined) return;
  const handledKey = { platform, key: notification.key };
  if (await deps.handledNotifications.isHandled(app.name, handledKey)) return;
  const recorder = createEventRecorder({ type: `webhook.${platform}.called`, date: receivedAt, eventId });
  const request = {
    route: platform,
    notification: { type: notification.type, date: new Date(notification.occurredAt).toISOString() },
  };
  try {
    await recordNotification(incoming, { app, recorder, deps });
    await recordWorkerEvent(app.name, { recorder, request }, deps);
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWorkerEvent(app.name, { recorder, request, failure }, deps);
    if (failure.code !== ('ConnectionFailed' satisfies ErrorCode) || incoming.attempt >= maxAttempts) throw failure;
    if (deps.now() - receivedAt > delayedAfterMs)
      logError({ worker: 'process-notification', problem: 'NotificationDelayed', app: app.name, eventId }, failure);
    await requeue(incoming, deps);
  }
}

interface ProcessingContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: Deps;
}

async function recordNotification(
  { platform, notification }: QueuedNotification,
  taking: ProcessingContext,
): Promise<void> {
  const { app, recorder, deps } = taking;
  const store = await deps.loadStore(platform);
  const observedNotification = await observeNotification(store, notification, taking);
  const hasSeveralPurchases = observedNotification.observations.length > 1;
  const handledKey = { platform, key: notification.key };
  const recorded: RecordPurchaseResult[] = [];
  for (const observation of observedNotification.observations) {
    const result = await deps.recordPurchase(app.name, observation.purchase.purchaseId, {
      trigger: 'notification',
      observation,
      storeReason: observedNotification.reason,
      ...(await resolveStoreUser(app.name, observation, deps.userAliases)),
      notificationPart: { ...handledKey, isOneOfSeveral: hasSeveralPurchases },
      strategy: app.strategy,
      now: deps.now(),
    });
    if (result) recorded.push((await claimForLateUser(result, observation, taking)) ?? result);
  }
  if (observedNotification.pricesChanged) await deps.priceLists.invalidate(app.name, platform, deps.now());
  if (observedNotification.observations.length !== 1)
    await deps.handledNotifications.markHandled(app.name, handledKey, deps.now());
  addRecordedPurchases(recorder, recorded);
  recorder.addContent({ notifications: [{ reason: observedNotification.reason, type: notification.type }] });
  const [user] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (user !== undefined) recorder.setUser(user);
}

/** A user who became known while the purchase was written has not found it waiting, and was not found before. */
async function claimForLateUser(
  { stored }: RecordPurchaseResult,
  observation: Observation,
  { app, deps }: ProcessingContext,
): Promise<RecordPurchaseResult | undefined> {
  const { storeUser } = stored.claims.length > 0 ? {} : await resolveStoreUser(app.name, observation, deps.userAliases);
  if (storeUser === undefined) return undefined;
  const { purchaseId } = observation.purchase;
  const claimed = { trigger: 'notification', storeUser, strategy: app.strategy, now: deps.now() } as const;
  return await deps.recordPurchase(app.name, purchaseId, claimed);
}

async function observeNotification(
  store: Store,
  message: QueuedNotification['notification'],
  { app, recorder, deps }: ProcessingContext,
): Promise<ObservedNotification> {
  if (!store.observe) throw new ServiceError('InternalError', `${store.platform} has no messages.`);
  return await store.observe(message, await createStoreContext(app.name, store.platform, { recorder, deps }));
}

/** From five seconds, twice as long each time, up to the quarter of an hour that a queue can hold a message back. */
async function requeue(incoming: QueuedNotification, { notificationQueue }: Deps): Promise<void> {
  const delaySeconds = Math.min(900, 5 * 2 ** Math.min(incoming.attempt, 10));
  await notificationQueue.send([{ ...incoming, attempt: incoming.attempt + 1 }], {
    delaySeconds,
    group: incoming.appName,
  });
}
