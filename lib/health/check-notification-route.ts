import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { toIso } from '../foundation/time.ts';
import type { RouteStep } from '../stores/notification-route.ts';
import { checkNotifications, isNotification, type ListLatestEvents } from './check-notifications.ts';
import { formatDuration } from './clock.ts';
import { createFinding } from './finding.ts';
import type { DetailedResult } from './run-checks.ts';
import { testNotificationRoute } from './test-notification-route.ts';

interface RouteCheck {
  readonly app: string;
  readonly platform: Platform;
  /** Notification URL of the app. Undefined if the store does not post notifications. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
  /** If the settings cannot be read, only recorded notifications are checked. */
  readonly canDecrypt: boolean;
  readonly listLatestEvents: ListLatestEvents;
}

/**
 * Checks whether notifications of the store arrive: those that are recorded, and the way in. A problem of the way is
 * not a finding if recorded notifications show the same problem.
 */
export async function checkNotificationRoute(
  service: Service,
  { app, platform, url, timeoutMs, canDecrypt, listLatestEvents }: RouteCheck,
): Promise<DetailedResult> {
  const startedAt = performance.now();
  const lastDate = (await listLatestEvents()).find((event) => isNotification(event, platform))?.date;
  const last: RouteStep = {
    name: 'last recorded notification',
    outcome: lastDate === undefined ? 'none among the latest events' : formatAge(lastDate, service.now()),
    durationMs: Math.round(performance.now() - startedAt),
  };
  const recorded = url === undefined ? [] : await checkNotifications(service, { app, platform, url, listLatestEvents });
  const { steps, problems } = canDecrypt
    ? await testNotificationRoute(service, { app, platform, url, timeoutMs, listLatestEvents })
    : { steps: [], problems: [] };
  const tested = problems.map(({ code, ...diagnosis }) =>
    createFinding(`notifications-${code}`, diagnosis, { app, platform }),
  );
  return {
    findings: recorded.length > 0 ? recorded : tested,
    steps: [...steps, ...(url === undefined ? [] : [last])],
  };
}

const formatAge = (date: number, now: number): string =>
  `${toIso(date)}, ${formatDuration(Math.max(0, now - date))} ago`;
