import { ServiceError } from '../../errors.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { withinBudget } from '../deadline.ts';
import type { Asking, StoreMessage } from '../store.ts';
import { apiToken } from './api-token.ts';
import { type AppStoreServer, appStoreServer } from './app-store-server.ts';
import { misconfigured } from './apple-answer.ts';
import { messageOf } from './notification.ts';
import { type Environment, NotificationsAnswer } from './payloads.ts';
import { apiKeyOf, storeASettings } from './settings.ts';
import { type Trust, trustOf } from './trust.ts';

const dayMs = 86_400_000;

/** How far back Apple remembers its notifications; an hour less, as our clock is not Apple's. */
const memoryMs: Readonly<Record<Environment, number>> = {
  Production: 180 * dayMs - 3_600_000,
  Sandbox: 30 * dayMs - 3_600_000,
};

/** This runs on a schedule, where nobody waits. */
const budget = { totalMs: 50_000, longestCallMs: 6_000, store: 'Apple' };

/**
 * The notifications that Apple failed to deliver, as a delivery would have brought them. None without an API key. Throws
 * `ConnectionFailed`, and `InternalError` when Apple refuses the key in both environments.
 */
export async function missed(since: Millis, asking: Asking): Promise<readonly StoreMessage[]> {
  const settings = storeASettings(asking.settings);
  const key = apiKeyOf(settings);
  if (!key) return [];
  const trust = trustOf(settings, asking);
  const server = appStoreServer(withinBudget(asking.fetch, budget), apiToken(key, settings.bundleId, trust.now));
  const production = await payloadsOf('Production', since, { server, now: trust.now });
  const sandbox = await payloadsOf('Sandbox', since, { server, now: trust.now });
  // Production refuses the key of an application that was never released.
  if (!production && !sandbox) throw misconfigured('both environments refuse the API key');
  return [...(production ?? []), ...(sandbox ?? [])].flatMap((payload) => understood(payload, trust));
}

/** All pages of an environment; undefined when it refuses the key. */
async function payloadsOf(
  environment: Environment,
  since: Millis,
  { server, now }: { readonly server: AppStoreServer; readonly now: Millis },
): Promise<string[] | undefined> {
  const startDate = Math.max(since, now - memoryMs[environment]);
  const body = { startDate, endDate: now, onlyFailures: true };
  const payloads: string[] = [];
  const seen = new Set<string>();
  for (let page = ''; !seen.has(page); ) {
    seen.add(page);
    const path = `/inApps/v1/notifications/history${page && `?paginationToken=${encodeURIComponent(page)}`}`;
    const answer = await server.post(environment, path, { body, schema: NotificationsAnswer });
    if (answer.kind === 'refused') return undefined;
    if (answer.kind === 'missing') return payloads;
    const { notificationHistory, hasMore, paginationToken } = answer.value;
    payloads.push(...notificationHistory.map(({ signedPayload }) => signedPayload));
    if (!hasMore || !paginationToken) return payloads;
    page = paginationToken;
  }
  return payloads;
}

/** What cannot be understood would not have been when it was delivered, and keeps nothing else back. */
function understood(signedPayload: string, trust: Trust): StoreMessage[] {
  try {
    return [messageOf(signedPayload, trust)];
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return [];
  }
}
