import { ServiceError } from '../../foundation/errors.ts';
import { logWarning } from '../../foundation/log.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { invalidSettingsError, storeName } from './api-errors.ts';
import { type AppStoreServerApi, connectAppStore } from './app-store-server-api.ts';
import { parseNotification } from './parse-notification.ts';
import { type Environment, NotificationHistoryResponse } from './payloads.ts';
import { parseStoredSettings } from './settings.ts';
import { createVerificationContext, type VerificationContext } from './verification.ts';

/** Tolerance for clock differences: Apple rejects earlier start dates. */
const clockToleranceMs = hourMs;

/**
 * Retention of the notification history.
 * @see https://developer.apple.com/documentation/appstoreserverapi/get_notification_history
 */
const historyRetentionMs: Readonly<Record<Environment, number>> = {
  Production: 180 * dayMs - clockToleranceMs,
  Sandbox: 30 * dayMs - clockToleranceMs,
};

/** Runs on a schedule, so the budget is larger than for a validation. */
const budget = { totalMs: 50_000, maxCallMs: 6_000, storeName };

/**
 * Lists the notifications that Apple failed to deliver, in the same form as `receive`. Returns none without an API key.
 * Apple itself retries for about 6.5 days.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
 */
export const listUndelivered = async (
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> => await fetchHistory({ since, onlyFailures: true }, context);

/** Lists the notifications of the history, also delivered ones. */
export const listNotifications = async (
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> => await fetchHistory({ since, onlyFailures: false }, context);

interface HistoryQuery {
  readonly since: EpochMillis;
  readonly onlyFailures: boolean;
}

async function fetchHistory(query: HistoryQuery, context: StoreContext): Promise<readonly StoreNotification[]> {
  const settings = parseStoredSettings(context.settings);
  const server = await connectAppStore(settings, { ...context, fetch: withTimeBudget(context, budget) });
  if (!server) return [];
  const verification = createVerificationContext(settings, context);
  const period = { ...query, now: verification.now };
  const production = await fetchNotificationPayloads('Production', period, server);
  const sandbox = await fetchNotificationPayloads('Sandbox', period, server);
  // Production rejects the key of an app that has not been released.
  if (!production && !sandbox) throw invalidSettingsError('the API key is not valid');
  return [...(production ?? []), ...(sandbox ?? [])].flatMap((payload) =>
    parseOrSkip(payload, verification, context.appName),
  );
}

/** Fetches all pages of an environment. Returns undefined if the environment rejects the API key. */
async function fetchNotificationPayloads(
  environment: Environment,
  { since, now, onlyFailures }: HistoryQuery & { readonly now: EpochMillis },
  server: AppStoreServerApi,
): Promise<string[] | undefined> {
  const startDate = Math.max(since, now - historyRetentionMs[environment]);
  const body = { startDate, endDate: now, onlyFailures };
  const payloads: string[] = [];
  const visitedPages = new Set<string>();
  for (let page = ''; !visitedPages.has(page); ) {
    visitedPages.add(page);
    const path = `/inApps/v1/notifications/history${page && `?paginationToken=${encodeURIComponent(page)}`}`;
    const result = await server.post(environment, path, { body, schema: NotificationHistoryResponse });
    if (result.kind === 'unauthorized') return undefined;
    if (result.kind === 'notFound') return payloads;
    const { notificationHistory, hasMore, paginationToken } = result.value;
    payloads.push(...notificationHistory.map(({ signedPayload }) => signedPayload));
    if (!hasMore || !paginationToken) return payloads;
    page = paginationToken;
  }
  return payloads;
}

/**
 * Skips invalid notifications, which would have been rejected at delivery, too. They must not block the others. A
 * warning is logged, because a wrong setting makes all of them invalid.
 */
function parseOrSkip(signedPayload: string, verification: VerificationContext, app: string): StoreNotification[] {
  try {
    return [parseNotification(signedPayload, verification)];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    logWarning({ worker: 'recover-notifications', app, platform: platformTokens.appStore }, error);
    return [];
  }
}
