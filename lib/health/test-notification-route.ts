import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecord } from '../events/event.ts';
import { listEventPage } from '../events/event-list-table.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadNotificationTest } from '../stores/load-notification-test.ts';
import type { NotificationRoute, RouteProblem, RouteStep } from '../stores/notification-route.ts';
import { isNotification, type ListLatestEvents } from './check-notifications.ts';
import { describeError } from './describe-error.ts';

interface RouteTest {
  readonly app: string;
  readonly platform: Platform;
  /** Notification URL of the app. Undefined if the store does not post notifications. */
  readonly url: string | undefined;
  /** Time for the whole test. */
  readonly timeoutMs: number;
  readonly listLatestEvents: ListLatestEvents;
}

type RouteResult = Pick<NotificationRoute, 'steps' | 'problems'>;

/** Share of the time in which the store attempts a test notification. */
const waitShare = 0.5;

/** Share in which the service records it, when its queue message is processed. The rest is for the requests. */
const recordingShare = 1 / 3;
/** A read of the newest events is a query of each shard. */
const pollMs = secondMs;

/**
 * Tests the way of notifications from the store to the service. A store that rejects the credentials or is unavailable
 * is a step without a problem, because the check of the settings reports it.
 */
export async function testNotificationRoute(
  service: Service,
  { app, platform, url = '', timeoutMs, listLatestEvents }: RouteTest,
): Promise<RouteResult> {
  const startedAt = performance.now();
  try {
    const recorder = createEventRecorder({ type: 'settings.checked', date: service.now() });
    const context = await createStoreContext(service, app, { platform, recorder });
    const earlier = new Set(listTestIds(await listLatestEvents(), platform));
    const test = await loadNotificationTest(platform);
    const route = await test({ url, waitMs: timeoutMs * waitShare }, context);
    if (route.numDelivered === 0) return route;
    const count = async (): Promise<number> => {
      const { rows } = await listEventPage(service, app, { limit: maxEvents, includesReads: false });
      return listTestIds(rows, platform).filter((id) => !earlier.has(id)).length;
    };
    return await checkRecording(route, { url, waitMs: timeoutMs * recordingShare, count });
  } catch (error) {
    const durationMs = Math.round(performance.now() - startedAt);
    return { steps: [{ name: 'request', outcome: `failed: ${describeError(error)}`, durationMs }], problems: [] };
  }
}

/** Events that are read: a test notification is among the newest. */
const maxEvents = 50;

/** Returns the ids of the events that recorded a test notification of the store. */
const listTestIds = (events: readonly EventRecord[], platform: Platform): string[] =>
  events
    .filter((event) => isNotification(event, platform) && isTest(event.content.notifications))
    .map(({ eventId }) => eventId);

const isTest = (notifications: readonly { readonly type?: unknown }[]): boolean =>
  notifications.some(({ type }) => type === 'TEST');

/** Waits until the service has recorded the delivered notifications. Another server may have received them. */
async function checkRecording(
  { steps, problems, numDelivered }: NotificationRoute,
  { url, waitMs, count }: { readonly url: string; readonly waitMs: number; readonly count: () => Promise<number> },
): Promise<RouteResult> {
  const startedAt = performance.now();
  let numRecorded = await count();
  while (numRecorded < numDelivered && performance.now() - startedAt < waitMs) {
    await sleep(pollMs);
    numRecorded = await count();
  }
  const step: RouteStep = {
    name: 'recorded by the service',
    outcome: `${Math.min(numRecorded, numDelivered)} of ${numDelivered} test notifications`,
    durationMs: Math.round(performance.now() - startedAt),
  };
  const elsewhere: RouteProblem = {
    code: 'elsewhere',
    problem: `The store delivered ${numDelivered} test notifications, and the service recorded ${numRecorded} within ${Math.round(waitMs / secondMs)} seconds. Another server receives the rest, or the queue of notifications is delayed.`,
    cure: `Enter the notification URL ${url} at the store, unless the other server forwards the notifications.`,
  };
  return { steps: [...steps, step], problems: numRecorded < numDelivered ? [...problems, elsewhere] : problems };
}
