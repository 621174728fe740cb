import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { dayMs } from '../../shared/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { invalidSettingsError } from './api-errors.ts';
import { createApiToken } from './api-token.ts';
import { type AppStoreServerApi, createAppStoreServerApi } from './app-store-server-api.ts';
import { parseNotification } from './parse-notification.ts';
import { type Environment, NotificationHistoryResponse } from './payloads.ts';
import { getApiKey, parseStoredSettings } from './settings.ts';
import { createVerificationContext, type VerificationContext } from './verification.ts';

/** How far back Apple remembers its notifications; an hour less, as our clock is not Apple's. */
const historyRetentionMs: Readonly<Record<Environment, number>> = {
  Production: 180 * dayMs - 3_600_000,
  Sandbox: 30 * dayMs - 3_600_000,
};

/** This runs on a schedule, where nobody waits. */
const budget = { totalMs: 50_000, maxCallMs: 6_000, storeName: 'The App Store' };

/**
 * The notifications that Apple failed to deliver, as a delivery would have brought them. None without an API key. Throws
 * `ConnectionFailed`, and `InternalError` when Apple refuses the key in both environments.
 */
export async function listUndelivered(
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  const settings = parseStoredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) return [];
  const trust = createVerificationContext(settings, context);
  const server = createAppStoreServerApi(
    withTimeBudget(context.fetch, budget),
    createApiToken(key, settings.bundleId, trust.now),
  );
  const production = await fetchNotificationPayloads('Production', since, { server, now: trust.now });
  const sandbox = await fetchNotificationPayloads('Sandbox', since, { server, now: trust.now });
  // Production refuses the key of an application that was never released.
  if (!production && !sandbox) throw invalidSettingsError('both environments refuse the API key');
  return [...(production ?? []), ...(sandbox ?? [])].flatMap((payload) => parseOrSkip(payload, trust));
}

/** All pages of an environment; undefined when it refuses the key. */
async function fetchNotificationPayloads(
  environment: Environment,
  since: EpochMillis,
  { server, now }: { readonly server: AppStoreServerApi; readonly now: EpochMillis },
): Promise<string[] | undefined> {
  const startDate = Math.max(since, now - historyRetentionMs[environment]);
  const body = { startDate, endDate: now, onlyFailures: true };
  const payloads: string[] = [];
  const seenPages = new Set<string>();
  for (let page = ''; !seenPages.has(page); ) {
    seenPages.add(page);
    const path = `/inApps/v1/notifications/history${page && `?paginationToken=${encodeURIComponent(page)}`}`;
    const response = await server.post(environment, path, { body, schema: NotificationHistoryResponse });
    if (response.kind === 'refused') return undefined;
    if (response.kind === 'missing') return payloads;
    const { notificationHistory, hasMore, paginationToken } = response.value;
    payloads.push(...notificationHistory.map(({ signedPayload }) => signedPayload));
    if (!hasMore || !paginationToken) return payloads;
    page = paginationToken;
  }
  return payloads;
}

/** What cannot be understood would not have been when it was delivered, and keeps nothing else back. */
function parseOrSkip(signedPayload: string, trust: VerificationContext): StoreNotification[] {
  try {
    return [parseNotification(signedPayload, trust)];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [];
  }
}
