import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toDisplayUrl } from './display-url.ts';

const maxDeliveries = 1_000;

/** Lists the creation dates of the app's pending or dead deliveries with a failed attempt, at most 1,000. */
export async function getWebhookBacklog(
  appName: string,
  state: 'pending' | 'dead',
  { deliveries }: Pick<Deps, 'deliveries'>,
): Promise<{ readonly dates: readonly EpochMillis[]; readonly isComplete: boolean }> {
  const { rows, next } = await deliveries.listPage(appName, { state, limit: maxDeliveries });
  return { dates: rows.map(({ createdAt }) => createdAt), isComplete: next === undefined };
}

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

/** Lists the webhook URLs of the app with their health. */
export async function listWebhookUrls({ name, webhookSettings }: App, deps: Pick<Deps, 'deliveries' | 'now'>) {
  const { urls = [], sandboxUrls = [] } = webhookSettings ?? {};
  const listed = [...new Set([...urls, ...sandboxUrls])].map(async (url) => {
    const { disabledAt, backoffUntil, consecutiveFailures } = await deps.deliveries.findUrlHealth(name, url);
    const isInBackoff = backoffUntil !== undefined && backoffUntil > deps.now();
    return {
      url: toDisplayUrl(url),
      state: disabledAt !== undefined ? ('disabled' as const) : isInBackoff ? ('backoff' as const) : ('ok' as const),
      ...(disabledAt !== undefined && { disabledAt: toIso(disabledAt) }),
      ...(isInBackoff && { backoffUntil: toIso(backoffUntil) }),
      ...(consecutiveFailures !== undefined && { consecutiveFailures }),
    };
  });
  return await Promise.all(listed);
}
