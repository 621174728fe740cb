import { createHash } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError } from '../shared/errors.ts';
import { type Platform, platforms } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import type { StoreNotification } from '../stores/store.ts';
import { notificationEndpoints } from './notification-endpoints.ts';

/** Each look covers several runs, so that one that fails is made up for. */
const lookbackMs = 3 * 24 * 60 * 60 * 1000;

/** What a look has put on the queue is left to it for so long; the queue may take longer, or have given it up. */
const requeueAfterMs = 6 * 60 * 60 * 1000;

/** Stores that send their messages by themselves; the others only hold them ready. */
const pushPlatforms = new Set<Platform>(notificationEndpoints.map(({ platform }) => platform));

/**
 * Asks the stores that send notifications for what they could not deliver, and sends what nobody has handled on its way,
 * unless an earlier look did so within hours. One event an application and store tells how many messages were missed; without
 * any there is none.
 */
export async function recoverUndelivered(deps: Deps, remainingMs: () => number): Promise<void> {
  const targetPlatforms = platforms.filter((platform) => pushPlatforms.has(platform));
  await recoverForApps(targetPlatforms, remainingMs, deps);
}

/** The same for the messages that the other stores hold ready: this is the only way in which they arrive. */
export async function pollNotifications(deps: Deps, remainingMs: () => number): Promise<void> {
  const targetPlatforms = platforms.filter((platform) => !pushPlatforms.has(platform));
  await recoverForApps(targetPlatforms, remainingMs, deps);
}

/** The longest that a store is asked for. */
const minRemainingMs = 70_000;

/** Begins each time with another application, so that each has its turn even when the time never reaches to all of them. */
async function recoverForApps(
  targetPlatforms: readonly Platform[],
  remainingMs: () => number,
  deps: Deps,
): Promise<void> {
  const apps = (await deps.apps.list()).filter(({ deletedAt }) => deletedAt === undefined);
  const first = Math.floor(Math.random() * apps.length);
  for (const app of [...apps.slice(first), ...apps.slice(0, first)]) {
    for (const platform of targetPlatforms) {
      if (remainingMs() < minRemainingMs) return;
      await recoverForApp(app, platform, deps);
    }
  }
}

async function recoverForApp(app: App, platform: Platform, deps: Deps): Promise<void> {
  const recorder = createEventRecorder({ type: 'notifications.reconciled', date: deps.now() });
  const request = { route: 'reconcile', platform };
  try {
    const context = await createStoreContext(app.name, platform, { recorder, deps });
    if (context.settings === undefined) return;
    const store = await deps.loadStore(platform);
    const undelivered = (await store.listUndelivered?.(deps.now() - lookbackMs, context)) ?? [];
    const unhandled = await filterUnhandled(undelivered, { appName: app.name, platform, deps });
    await enqueueUnhandled(unhandled, { appName: app.name, platform, deps });
    if (undelivered.length > 0) await store.confirmEnqueued?.(undelivered, context);
    if (unhandled.length === 0) return;
    recorder.addContent({ notifications: unhandled.map(({ message: { type } }) => ({ platform, type })) });
    await recordWorkerEvent(app.name, { recorder, request, response: { quantity: unhandled.length } }, deps);
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    recorder.addContent({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWorkerEvent(app.name, { recorder, request, failure }, deps);
  }
}

interface RecoveryContext {
  readonly appName: string;
  readonly platform: Platform;
  readonly deps: Deps;
}

/** A message that is to be put on the queue. */
interface UnhandledNotification {
  readonly message: StoreNotification;
  /** When a look put it there for the first time, which may have come to nothing. */
  readonly firstAt: EpochMillis;
}

/** Those that nobody has handled and that no look has just put on the queue. */
async function filterUnhandled(
  undelivered: readonly StoreNotification[],
  context: RecoveryContext,
): Promise<UnhandledNotification[]> {
  const once = [...new Map(undelivered.map((message) => [message.key, message])).values()];
  const unhandled = await Promise.all(once.map(async (message) => await toUnhandled(message, context)));
  return unhandled.filter((one) => one !== undefined);
}

async function toUnhandled(
  message: StoreNotification,
  { appName, platform, deps }: RecoveryContext,
): Promise<UnhandledNotification | undefined> {
  const { key } = message;
  if (await deps.handledNotifications.isHandled(appName, { platform, key })) return undefined;
  const queued = await deps.handledNotifications.findEnqueued(appName, { platform, key });
  if (queued && deps.now() - queued.lastEnqueuedAt < requeueAfterMs) return undefined;
  return { message, firstAt: queued?.firstEnqueuedAt ?? deps.now() };
}

/** Marks what it sends only then: a crash in between has the next look send it again. */
async function enqueueUnhandled(
  unhandled: readonly UnhandledNotification[],
  { appName, platform, deps }: RecoveryContext,
): Promise<void> {
  const lastEnqueuedAt = deps.now();
  const incoming = unhandled.map(({ message, firstAt: receivedAt }) => ({
    appName,
    platform,
    eventId: deriveEventId(appName, platform, message.key),
    receivedAt,
    attempt: 0,
    notification: message,
  }));
  await deps.notificationQueue.send(incoming, { group: appName });
  await deps.handledNotifications.markEnqueued(
    appName,
    unhandled.map(({ message: { key }, firstAt }) => ({
      platform,
      key,
      firstEnqueuedAt: firstAt,
      lastEnqueuedAt,
    })),
  );
}

/** The same however often the message is sent on: its event is then written again, not a second time. */
const deriveEventId = (...parts: readonly [app: string, platform: Platform, key: string]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
