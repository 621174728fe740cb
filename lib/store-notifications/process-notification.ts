import type { App } from '../apps/app.ts';
import { findCachedApp } from '../apps/app-table.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { maxQueueDelaySeconds } from '../foundation/message-queue.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { computeBackoffMs, minuteMs, secondMs, toIso } from '../foundation/time.ts';
import { groupByReplacement } from '../purchases/group-by-replacement.ts';
import type { Observation } from '../purchases/observation.ts';
import { invalidatePriceList } from '../purchases/price-list-table.ts';
import { type RecordPurchaseResult, recordPurchase } from '../purchases/record-purchase.ts';
import { findStoreUser } from '../purchases/user-alias-table.ts';
import { addRequestedPurchase, findRequestCustomer } from '../refunds/add-requested-purchase.ts';
import { recordRefundOutcome, recordRefundRequest } from '../refunds/record-refund-request.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { ObservedNotification, StoreNotification } from '../stores/store.ts';
import { tryFulfill } from '../stores/try-fulfill.ts';
import { isNotificationHandled, markNotificationHandled, type NotificationKey } from './handled-notification-table.ts';
import type { QueuedNotification } from './queued-notification.ts';
import { recordStoreRequest } from './record-store-request.ts';

/** About two days of retries while the store is unavailable. */
const maxAttempts = 200;

/** Age from which each failed attempt is logged as `NotificationDelayed`, which an alarm counts. */
const delayedAfterMs = 30 * minuteMs;

/**
 * Records the current state of the purchases in a store notification. Idempotent. While the store is unavailable, the
 * notification is enqueued again with a delay. Throws any other failure, so the queue retries the message.
 */
export async function processNotification(service: Service, queued: QueuedNotification): Promise<void> {
  const { platform, notification, eventId, receivedAt, isRecovered } = queued;
  const app = await findCachedApp(service, queued.appName);
  if (!app || app.deletedAt !== undefined) return;
  const notificationKey = { platform, key: notification.key };
  if (await isNotificationHandled(service, app.name, notificationKey)) return;
  const type = `webhook.${platform}.${isRecovered ? 'recovered' : 'called'}`;
  const recorder = createEventRecorder({ type, date: receivedAt, eventId });
  const request = {
    route: platform,
    notification: { type: notification.type, date: toIso(notification.occurredAt) },
  };
  try {
    await recordNotification({ app, recorder, service }, queued);
    await recordWorkerEvent(service, app.name, { recorder, request });
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWorkerEvent(service, app.name, { recorder, request, failure });
    if (failure.code !== ('ConnectionFailed' satisfies ErrorCode) || queued.attempt >= maxAttempts) throw failure;
    if (service.now() - receivedAt > delayedAfterMs)
      logError({ worker: 'process-notification', problem: 'NotificationDelayed', app: app.name, eventId }, failure);
    await recordRenewalNotice(service, queued, app);
    await requeue(service, queued);
  }
}

/**
 * Records what the verified notification proves while its store is unavailable, so that a subscriber who has renewed
 * keeps access.
 */
async function recordRenewalNotice(
  service: Service,
  { platform, notification, eventId }: QueuedNotification,
  app: App,
) {
  const store = await loadStore(platform);
  const found = store.findRenewalNotice?.(notification);
  if (!found) return;
  await recordPurchase(service, app.name, found.purchaseId, {
    trigger: 'notification',
    renewalNotice: found.notice,
    eventId,
    strategy: app.strategy,
    now: service.now(),
  });
}

async function recordNotification(
  context: OperationContext,
  { platform, notification }: QueuedNotification,
): Promise<void> {
  const { app, recorder, service } = context;
  const store = await loadStore(platform);
  if (!store.observe) throw new ServiceError('InternalError', `${platform} does not support notifications.`);
  const storeContext = await createStoreContext(service, app.name, { platform, recorder });
  const observed = await store.observe(notification, storeContext);
  const { observations, reason, pricesChanged, unknownPurchaseId } = observed;
  // Recorded first: a single purchase is recorded together with the marker that the notification is handled.
  await recordRequests(context, observed, notification);
  const notificationKey = { platform, key: notification.key };
  const recorded = await recordObserved(context, observed, notificationKey);
  if (pricesChanged) await invalidatePriceList(service, app.name, platform, service.now());
  // A single purchase is marked as handled in the transaction that records it.
  if (observations.length !== 1) await markNotificationHandled(service, app.name, notificationKey, service.now());
  const fulfilled = await tryFulfill(store, { observations }, { storeContext, recorder });
  recorded.push(...(await recordFulfilled(context, fulfilled)));
  // The event is found by its purchase even if the notification changed nothing.
  const subjectId = observations[0]?.purchase.purchaseId;
  if (unknownPurchaseId !== undefined) recorder.addTag(unknownPurchaseId, '_P');
  addRecordedPurchases(recorder, recorded, observations.length > 1 ? undefined : subjectId);
  recorder.addContent({ notifications: [{ reason, type: notification.type }] });
  const [username] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (username !== undefined) recorder.setUser(username);
}

/** Records a request of the store, or its decision about a refund. */
async function recordRequests(
  context: OperationContext,
  { refundRequest, refundOutcome, storeRequest }: ObservedNotification,
  notification: StoreNotification,
): Promise<void> {
  const { app, recorder, service } = context;
  if (refundRequest) {
    const { eventId } = recorder;
    const request = await recordRefundRequest(service, app.name, { ...refundRequest, eventId });
    addRequestedPurchase(recorder, request.purchaseId, await findRequestCustomer(service, app.name, request));
  }
  if (storeRequest) await recordStoreRequest(context, storeRequest, notification);
  if (refundOutcome) await recordRefundOutcome(service, app.name, refundOutcome, notification.occurredAt);
}

async function recordObserved(
  context: OperationContext,
  { observations, reason }: ObservedNotification,
  notificationKey: NotificationKey,
): Promise<RecordPurchaseResult[]> {
  const { app, recorder, service } = context;
  const recorded: RecordPurchaseResult[] = [];
  for (const observation of groupByReplacement(observations).flat()) {
    const result = await recordPurchase(service, app.name, observation.purchase.purchaseId, {
      trigger: 'notification',
      observation,
      storeReason: reason,
      ...omitUndefined({ storeUser: await findStoreUser(service, app.name, observation) }),
      notificationPart: { ...notificationKey, isPartOfSeveral: observations.length > 1 },
      eventId: recorder.eventId,
      strategy: app.strategy,
      now: service.now(),
    });
    if (result) recorded.push((await claimForNewAlias(context, result, observation)) ?? result);
  }
  return recorded;
}

/**
 * Claims a purchase for a store user whose alias was saved while the purchase was recorded. The concurrent validation
 * did not find the purchase among the unclaimed ones yet.
 */
async function claimForNewAlias(
  { app, recorder: { eventId }, service }: OperationContext,
  { stored }: RecordPurchaseResult,
  observation: Observation,
): Promise<RecordPurchaseResult | undefined> {
  if (stored.claims.length > 0) return undefined;
  const storeUser = await findStoreUser(service, app.name, observation);
  if (storeUser === undefined) return undefined;
  return await recordPurchase(service, app.name, observation.purchase.purchaseId, {
    trigger: 'notification',
    storeUser,
    eventId,
    strategy: app.strategy,
    now: service.now(),
  });
}

async function recordFulfilled(
  { app, recorder: { eventId }, service }: OperationContext,
  observations: readonly Observation[],
): Promise<RecordPurchaseResult[]> {
  const results: (RecordPurchaseResult | undefined)[] = [];
  for (const observation of observations) {
    const input = {
      trigger: 'notification',
      observation,
      eventId,
      strategy: app.strategy,
      now: service.now(),
    } as const;
    results.push(await recordPurchase(service, app.name, observation.purchase.purchaseId, input));
  }
  return results.filter((result) => result !== undefined);
}

/** Retries with exponential backoff: 5 s after the first attempt, at most 15 min. */
async function requeue({ notificationQueue }: Service, queued: QueuedNotification): Promise<void> {
  const delayMs = computeBackoffMs(queued.attempt + 1, {
    firstMs: 5 * secondMs,
    maxMs: maxQueueDelaySeconds * secondMs,
  });
  const delaySeconds = delayMs / secondMs;
  await notificationQueue.send([{ ...queued, attempt: queued.attempt + 1 }], { delaySeconds, group: queued.appName });
}
