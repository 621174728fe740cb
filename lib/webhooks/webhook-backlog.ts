import type { App } from '../apps/app.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import type { DeliveryRepository } from './delivery-repository.ts';
import { toDisplayUrl } from './display-url.ts';

const maxDeliveries = 1_000;

/** The creation dates of deliveries, and whether all are counted. */
interface WebhookBacklog {
  readonly dates: readonly EpochMillis[];
  readonly isComplete: boolean;
}

interface BacklogDeps {
  now(): EpochMillis;
  readonly deliveries: DeliveryRepository;
}

/** Test webhooks are not work: their result is read when they are sent. */
const listDates = (rows: readonly WebhookDelivery[]): EpochMillis[] =>
  rows.filter(({ type }) => type !== 'test').map(({ createdAt }) => createdAt);

/** Lists the creation dates of the app's pending or dead deliveries with a failed attempt, at most 1,000. */
export async function getWebhookBacklog(
  appName: string,
  state: 'pending' | 'dead',
  { deliveries }: Pick<BacklogDeps, 'deliveries'>,
): Promise<WebhookBacklog> {
  const { rows, next } = await deliveries.listPage(appName, { state, limit: maxDeliveries });
  return { dates: listDates(rows), isComplete: next === undefined };
}

const maxNewest = 100;

/**
 * Lists the creation dates of the newest deliveries whose first attempt is not made or postponed: a late queue delays
 * all.
 */
export async function getWaitingWebhooks(
  appName: string,
  { deliveries }: Pick<BacklogDeps, 'deliveries'>,
): Promise<WebhookBacklog> {
  const { rows } = await deliveries.listPage(appName, { limit: maxNewest });
  const waiting = rows.filter(
    ({ state, lastAttemptAt, nextAttemptAt }) =>
      state === 'pending' && lastAttemptAt === undefined && nextAttemptAt === undefined,
  );
  return { dates: listDates(waiting), isComplete: waiting.length < maxNewest };
}

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

/** Lists the webhook URLs of the app with their health. */
export async function listWebhookUrls({ name, webhookSettings }: App, deps: BacklogDeps) {
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
