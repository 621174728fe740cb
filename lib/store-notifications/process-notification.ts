import type { App } from '../apps/app.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import type { EventRepository } from '../events/event-repository.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import type { Service } from '../foundation/service.ts';
import type { Observation } from '../purchases/observation.ts';
import type { PriceListRepository } from '../purchases/price-list-repository.ts';
import type { RecordPurchase, RecordPurchaseResult } from '../purchases/record-purchase.ts';
import type { UserAliasRepository } from '../purchases/user-alias-repository.ts';
import { recordRefundOutcome, recordRefundRequest } from '../refunds/record-refund-request.ts';
import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import { minuteMs } from '../shared/time.ts';
import { createStoreContext, type StoreContextDeps } from '../stores/create-store-context.ts';
import type { LoadStore } from '../stores/store.ts';
import { tryFulfill } from '../stores/try-fulfill.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import type { HandledNotificationRepository } from './handled-notification-repository.ts';
import type { QueuedNotification } from './queued-notification.ts';
import { recordStoreRequest } from './record-store-request.ts';
import { resolveStoreUser } from './resolve-store-user.ts';

/** About two days of retries while the store is unavailable. */
const maxAttempts = 200;
/** Age from which each failed attempt is logged as `NotificationDelayed`, which an alarm counts. */
const delayedAfterMs = 30 * minuteMs;
/** The maximum delay of an SQS message. */
const maxDelaySeconds = 900;

export type ProcessDeps = Service &
  StoreContextDeps & {
    readonly deliveries: Pick<DeliveryRepository, 'createIfAbsent'>;
    readonly events: EventRepository;
    readonly handledNotifications: HandledNotificationRepository;
    readonly loadStore: LoadStore;
    readonly notificationQueue: MessageQueue<QueuedNotification>;
    readonly priceLists: PriceListRepository;
    readonly recordPurchase: RecordPurchase;
    readonly userAliases: UserAliasRepository;
  };

/**
 * Records the current state of the purchases in a store notification. Idempotent. While the store is unavailable, the
 * notification is enqueued again with a delay. Throws any other failure, so the queue retries the message.
 */
export async function processNotification(queued: QueuedNotification, deps: ProcessDeps): Promise<void> {
  const { platform, notification, eventId, receivedAt } = queued;
  const app = await deps.appCache.find(queued.appName);
  if (!app || app.deletedAt !== undefined) return;
  const notificationKey = { platform, key: notification.key };
  if (await deps.handledNotifications.isHandled(app.name, notificationKey)) return;
  const recorder = createEventRecorder({ type: `webhook.${platform}.called`, date: receivedAt, eventId });
  const request = {
    route: platform,
    notification: { type: notification.type, date: new Date(notification.occurredAt).toISOString() },
  };
  try {
    await recordNotification(queued, { app, recorder, deps });
    await recordWorkerEvent(app.name, { recorder, request }, deps);
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWorkerEvent(app.name, { recorder, request, failure }, deps);
    if (failure.code !== ('ConnectionFailed' satisfies ErrorCode) || queued.attempt >= maxAttempts) throw failure;
    if (deps.now() - receivedAt > delayedAfterMs)
      logError({ worker: 'process-notification', problem: 'NotificationDelayed', app: app.name, eventId }, failure);
    await recordRenewalNotice(queued, app, deps);
    await requeue(queued, deps);
  }
}

/**
 * Records what the verified notification proves while its store is unavailable, so that a subscriber who has renewed
 * keeps access.
 */
async function recordRenewalNotice({ platform, notification }: QueuedNotification, app: App, deps: ProcessDeps) {
  const store = await deps.loadStore(platform);
  const found = store.findRenewalNotice?.(notification);
  if (!found) return;
  await deps.recordPurchase(app.name, found.purchaseId, {
    trigger: 'notification',
    renewalNotice: found.notice,
    strategy: app.strategy,
    now: deps.now(),
  });
}

interface ProcessingContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: ProcessDeps;
}

async function recordNotification(
  { platform, notification }: QueuedNotification,
  context: ProcessingContext,
): Promise<void> {
  const { app, recorder, deps } = context;
  const store = await deps.loadStore(platform);
  if (!store.observe) throw new ServiceError('InternalError', `${platform} does not support notifications.`);
  const storeContext = await createStoreContext(app.name, platform, { recorder, deps });
  const { observations, reason, pricesChanged, refundRequest, refundOutcome, storeRequest } = await store.observe(
    notification,
    storeContext,
  );
  // Recorded first: a single purchase is recorded together with the marker that the notification is handled.
  if (refundRequest) await recordRefundRequest(deps, app.name, refundRequest);
  if (storeRequest) await recordStoreRequest(storeRequest, { app, notification, recorder, deps });
  if (refundOutcome) await recordRefundOutcome(deps, app.name, refundOutcome, notification.occurredAt);
  const isPartOfSeveral = observations.length > 1;
  const notificationKey = { platform, key: notification.key };
  const recorded: RecordPurchaseResult[] = [];
  for (const observation of observations) {
    const result = await deps.recordPurchase(app.name, observation.purchase.purchaseId, {
      trigger: 'notification',
      observation,
      storeReason: reason,
      ...(await resolveStoreUser(app.name, observation, deps.userAliases)),
      notificationPart: { ...notificationKey, isPartOfSeveral },
      strategy: app.strategy,
      now: deps.now(),
    });
    if (result) recorded.push((await claimForNewAlias(result, observation, context)) ?? result);
  }
  if (pricesChanged) await deps.priceLists.invalidate(app.name, platform, deps.now());
  // A single purchase is marked as handled in the transaction that records it.
  if (observations.length !== 1) await deps.handledNotifications.markHandled(app.name, notificationKey, deps.now());
  const fulfilled = await tryFulfill(store, { observations }, { storeContext, recorder });
  recorded.push(...(await recordFulfilled(fulfilled, context)));
  // The event is found by its purchase even if the notification changed nothing.
  const subjectId = observations[0]?.purchase.purchaseId;
  if (refundRequest) recorder.addTag(refundRequest.purchaseId, '_P');
  addRecordedPurchases(recorder, recorded, isPartOfSeveral ? undefined : subjectId);
  recorder.addContent({ notifications: [{ reason, type: notification.type }] });
  const [username] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (username !== undefined) recorder.setUser(username);
}

/**
 * Claims a purchase for a store user whose alias was saved while the purchase was recorded. The concurrent validation
 * did not find the purchase among the unclaimed ones yet.
 */
async function claimForNewAlias(
  { stored }: RecordPurchaseResult,
  observation: Observation,
  { app, deps }: ProcessingContext,
): Promise<RecordPurchaseResult | undefined> {
  if (stored.claims.length > 0) return undefined;
  const { storeUser } = await resolveStoreUser(app.name, observation, deps.userAliases);
  if (storeUser === undefined) return undefined;
  return await deps.recordPurchase(app.name, observation.purchase.purchaseId, {
    trigger: 'notification',
    storeUser,
    strategy: app.strategy,
    now: deps.now(),
  });
}

async function recordFulfilled(
  observations: readonly Observation[],
  { app, deps }: ProcessingContext,
): Promise<RecordPurchaseResult[]> {
  const results: (RecordPurchaseResult | undefined)[] = [];
  for (const observation of observations) {
    const input = { trigger: 'notification', observation, strategy: app.strategy, now: deps.now() } as const;
    results.push(await deps.recordPurchase(app.name, observation.purchase.purchaseId, input));
  }
  return results.filter((result) => result !== undefined);
}

/** Retries with exponential backoff: 5 s after the first attempt, at most 15 min. */
async function requeue(
  queued: QueuedNotification,
  { notificationQueue }: Pick<ProcessDeps, 'notificationQueue'>,
): Promise<void> {
  const delaySeconds = Math.min(maxDelaySeconds, 5 * 2 ** Math.min(queued.attempt, 10));
  await notificationQueue.send([{ ...queued, attempt: queued.attempt + 1 }], { delaySeconds, group: queued.appName });
}
