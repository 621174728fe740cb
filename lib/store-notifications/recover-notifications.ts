import { createHash } from 'node:crypto';
import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { getApp } from '../apps/manage-apps.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError, unavailableError } from '../foundation/errors.ts';
import { createEventId } from '../foundation/event-id.ts';
import { type Platform, platforms, storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs, secondMs } from '../foundation/time.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { StoreNotification } from '../stores/store.ts';
import { findEnqueueTimes, isNotificationHandled, markNotificationsEnqueued } from './handled-notification-table.ts';
import { notificationEndpoints } from './notification-endpoints.ts';
import { processNotification } from './process-notification.ts';

/** Each run covers the period of many earlier runs, so a failed run is harmless. */
const lookbackMs = 3 * dayMs;

/** Time after which an enqueued notification that is not handled is enqueued again. */
const requeueAfterMs = 6 * hourMs;

/** The duration of the slowest request to a store. */
const minRemainingMs = 70 * secondMs;

/** The stores that push notifications. The other stores must be polled. */
const pushPlatforms = new Set<Platform>(notificationEndpoints.map(({ platform }) => platform));

/**
 * Enqueues the notifications that a store failed to deliver and that are not handled. Records one event for each app
 * and store with such notifications.
 */
export async function recoverUndelivered(
  service: Service,
  apps: readonly App[],
  remainingMs: () => number,
): Promise<void> {
  const pushed = platforms.filter((platform) => pushPlatforms.has(platform));
  await recoverForApps(service, pushed, { remainingMs, apps });
}

/** Enqueues the notifications of the stores that do not push them. */
export async function pollNotifications(
  service: Service,
  apps: readonly App[],
  remainingMs: () => number,
): Promise<void> {
  const polled = platforms.filter((platform) => !pushPlatforms.has(platform));
  await recoverForApps(service, polled, { remainingMs, apps });
}

/** Number of notifications that are processed concurrently. */
const concurrency = 5;

/** The recovery of one store. */
interface StoreRecovery {
  readonly platform: Platform;
  /** Number of notifications that were not handled before. */
  readonly processed: number;
  /** Number of notifications that could not be processed. They stay unhandled. */
  readonly failed: number;
  /** Why the store did not list its notifications. */
  readonly problem?: string;
}

interface RecoveryOptions {
  /** Time of the earliest notification. */
  readonly since: EpochMillis;
  readonly onProgress?: (progress: RecoveryProgress) => void;
}

export interface RecoveryProgress {
  readonly platform: Platform;
  /** Number of processed and failed notifications. */
  readonly finished: number;
  /** Undefined while the store lists its notifications. */
  readonly total?: number;
}

/**
 * Processes all notifications since a time that the stores keep, also delivered ones, except handled ones. For a
 * restored table, which lacks the notifications after the restored time. Idempotent. Omits stores that are polled or
 * lack settings. A store that is unavailable does not affect the others. Throws `InvalidPayload` for a time in the
 * future, which the App Store rejects.
 */
export async function recoverSince(
  service: Service,
  name: string,
  { since, onProgress = () => {} }: RecoveryOptions,
): Promise<StoreRecovery[]> {
  const app = await getApp(service, name);
  if (since > service.now()) throw new ServiceError('InvalidPayload', 'startdate must not be in the future.');
  const recoveries: StoreRecovery[] = [];
  for (const platform of pushPlatforms) {
    const recovery = await recoverStoreSince(service, app.name, { platform, since, onProgress }).catch(
      (error: unknown) => ({ platform, processed: 0, failed: 0, problem: ServiceError.fromUnknown(error).message }),
    );
    if (recovery) recoveries.push(recovery);
  }
  return recoveries;
}

/** Returns undefined if the store keeps no unhandled notification. */
async function recoverStoreSince(
  service: Service,
  appName: string,
  { platform, since, onProgress }: Required<RecoveryOptions> & Pick<StoreRecovery, 'platform'>,
): Promise<StoreRecovery | undefined> {
  let finished = 0;
  onProgress({ platform, finished });
  const notifications = await listKeptNotifications(appName, { platform, since, service });
  const results = await pMap(
    notifications,
    async (notification) => {
      const isProcessed = await processRecovered(notification, { appName, platform, service });
      onProgress({ platform, finished: ++finished, total: notifications.length });
      return isProcessed;
    },
    { concurrency },
  );
  const processed = results.filter(Boolean).length;
  return results.length > 0 ? { platform, processed, failed: results.length - processed } : undefined;
}

/** Lists the unhandled notifications that a store keeps, in the order in which they occurred. */
async function listKeptNotifications(
  appName: string,
  { platform, since, service }: { platform: Platform; since: EpochMillis; service: Service },
): Promise<readonly StoreNotification[]> {
  const recorder = createEventRecorder({ type: 'notifications.reconciled', date: service.now() });
  const context = await createStoreContext(service, appName, { platform, recorder });
  if (context.settings === undefined) return [];
  const { listNotifications, listUndelivered } = await loadStore(platform);
  const kept = (await (listNotifications ?? listUndelivered)?.(since, context)) ?? [];
  const unique = selectRecoverable(kept);
  const isHandled = await pMap(
    unique,
    async ({ key }) => await isNotificationHandled(service, appName, { platform, key }),
    { concurrency },
  );
  return unique.filter((_notification, index) => !isHandled[index]).sort((a, b) => a.occurredAt - b.occurredAt);
}

/**
 * Removes duplicates and test notifications. A recovered test notification would be recorded like a received one, which
 * proves that the notification URL is correct.
 */
const selectRecoverable = (notifications: readonly StoreNotification[]): StoreNotification[] => [
  ...new Map(
    notifications.filter(({ type }) => type !== 'TEST').map((notification) => [notification.key, notification]),
  ).values(),
];

/** Returns false after a failure, which is recorded in its event. */
async function processRecovered(
  notification: StoreNotification,
  { appName, platform, service }: { appName: string; platform: Platform; service: Service },
): Promise<boolean> {
  const receivedAt = service.now();
  const eventId = deriveEventId(receivedAt, appName, platform, notification.key);
  const queued = { appName, platform, eventId, receivedAt, attempt: 0, notification, isRecovered: true } as const;
  // The operator repeats the command instead of the queue.
  const rejectingQueue = {
    send: async () => {
      throw unavailableError(storeNames[platform], 'The notification cannot be processed now.');
    },
  };
  return await processNotification({ ...service, notificationQueue: rejectingQueue }, queued).then(
    () => true,
    () => false,
  );
}

/** Starts with a random app, so all apps are covered over time even if one run has too little time for all of them. */
async function recoverForApps(
  service: Service,
  targetPlatforms: readonly Platform[],
  { remainingMs, apps }: { remainingMs: () => number; apps: readonly App[] },
): Promise<void> {
  const present = apps.filter(({ deletedAt }) => deletedAt === undefined);
  const first = Math.floor(Math.random() * present.length);
  for (const app of [...present.slice(first), ...present.slice(0, first)]) {
    for (const platform of targetPlatforms) {
      if (remainingMs() < minRemainingMs) return;
      await recoverForApp(service, app, platform);
    }
  }
}

async function recoverForApp(service: Service, app: App, platform: Platform): Promise<void> {
  const recorder = createEventRecorder({ type: 'notifications.reconciled', date: service.now() });
  const request = { route: 'reconcile', params: { platform } };
  try {
    const context = await createStoreContext(service, app.name, { platform, recorder });
    if (context.settings === undefined) return;
    const store = await loadStore(platform);
    const undelivered = (await store.listUndelivered?.(service.now() - lookbackMs, context)) ?? [];
    const unhandled = await filterUnhandled(undelivered, { appName: app.name, platform, service });
    await enqueueUnhandled(unhandled, { appName: app.name, platform, service });
    if (undelivered.length > 0) await store.deleteEnqueued?.(undelivered, context);
    if (unhandled.length === 0) return;
    recorder.addContent({ notifications: unhandled.map(({ notification: { type } }) => ({ platform, type })) });
    await recordWorkerEvent(service, app.name, { recorder, request, response: { quantity: unhandled.length } });
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWorkerEvent(service, app.name, { recorder, request, failure });
  }
}

interface RecoveryContext {
  readonly appName: string;
  readonly platform: Platform;
  readonly service: Service;
}

interface UnhandledNotification {
  readonly notification: StoreNotification;
  /** Time at which a run enqueued the notification for the first time, or now. */
  readonly firstEnqueuedAt: EpochMillis;
}

/** Removes what is not to be recovered, is handled, or was enqueued recently. */
async function filterUnhandled(
  undelivered: readonly StoreNotification[],
  context: RecoveryContext,
): Promise<UnhandledNotification[]> {
  const unhandled = await Promise.all(
    selectRecoverable(undelivered).map(async (notification) => await toUnhandled(notification, context)),
  );
  return unhandled.filter((notification) => notification !== undefined);
}

async function toUnhandled(
  notification: StoreNotification,
  { appName, platform, service }: RecoveryContext,
): Promise<UnhandledNotification | undefined> {
  const notificationKey = { platform, key: notification.key };
  if (await isNotificationHandled(service, appName, notificationKey)) return undefined;
  const enqueued = await findEnqueueTimes(service, appName, notificationKey);
  if (enqueued && service.now() - enqueued.lastEnqueuedAt < requeueAfterMs) return undefined;
  return { notification, firstEnqueuedAt: enqueued?.firstEnqueuedAt ?? service.now() };
}

/** Marks the notifications after they are enqueued: after a crash in between, the next run enqueues them again. */
async function enqueueUnhandled(
  unhandled: readonly UnhandledNotification[],
  { appName, platform, service }: RecoveryContext,
): Promise<void> {
  const lastEnqueuedAt = service.now();
  const messages = unhandled.map(({ notification, firstEnqueuedAt }) => ({
    appName,
    platform,
    eventId: deriveEventId(firstEnqueuedAt, appName, platform, notification.key),
    receivedAt: firstEnqueuedAt,
    attempt: 0,
    notification,
    ...(pushPlatforms.has(platform) && { isRecovered: true }),
  }));
  await service.notificationQueue.send(messages, { group: appName });
  await markNotificationsEnqueued(
    service,
    appName,
    unhandled.map(({ notification: { key }, firstEnqueuedAt }) => ({ platform, key, firstEnqueuedAt, lastEnqueuedAt })),
  );
}

/** Derives a stable id, so a notification that is enqueued again overwrites its event. */
const deriveEventId = (
  date: EpochMillis,
  ...parts: readonly [appName: string, platform: Platform, key: string]
): string => createEventId(date, createHash('sha256').update(JSON.stringify(parts)).digest());
