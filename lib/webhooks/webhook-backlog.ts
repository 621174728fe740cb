import type { App } from '../apps/app.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, minuteMs, toIso } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { findUrlHealth } from './delivery-table.ts';
import { toDisplayUrl } from './display-url.ts';
import { listDeliveryPage } from './list-deliveries.ts';

const maxDeliveries = 1_000;

/** The creation dates of deliveries, and whether all are counted. */
interface WebhookBacklog {
  readonly dates: readonly EpochMillis[];
  readonly isComplete: boolean;
}

/** Test webhooks are not work: their result is read when they are sent. */
const listDates = (rows: readonly WebhookDelivery[]): EpochMillis[] =>
  rows.filter(({ type }) => type !== 'test').map(({ createdAt }) => createdAt);

/** Lists the creation dates of the app's pending or dead deliveries with a failed attempt, at most 1,000. */
export async function getWebhookBacklog(
  service: Service,
  appName: string,
  state: 'pending' | 'dead',
): Promise<WebhookBacklog> {
  const { rows, next } = await listDeliveryPage(service, appName, { state, limit: maxDeliveries });
  return { dates: listDates(rows), isComplete: next === undefined };
}

const maxNewest = 100;

/** Lists the newest deliveries of the app. */
export const listNewestDeliveries = async (service: Service, appName: string): Promise<readonly WebhookDelivery[]> =>
  (await listDeliveryPage(service, appName, { limit: maxNewest })).rows;

/**
 * Lists the creation dates of the newest deliveries whose first attempt is not made or postponed: a late queue delays
 * all.
 */
export function selectWaitingWebhooks(rows: readonly WebhookDelivery[]): WebhookBacklog {
  const waiting = rows.filter(
    ({ state, lastAttemptAt, nextAttemptAt }) =>
      state === 'pending' && lastAttemptAt === undefined && nextAttemptAt === undefined,
  );
  return { dates: listDates(waiting), isComplete: waiting.length < maxNewest };
}

/** A restart of the server can fail one attempt, which is repeated after some seconds. */
const minFailureMs = minuteMs;

/**
 * Counts the attempted deliveries of a URL, and those that wait for a retry or are dead. `deliveries`: newest first.
 * `failureReason`: reason of the series of failures, if the newest deliveries are only postponed.
 */
function countRecent(deliveries: readonly WebhookDelivery[], url: string, failureReason: string | undefined) {
  const attempted = deliveries.filter((delivery) => delivery.url === url && delivery.lastAttemptAt !== undefined);
  const failed = attempted.filter(({ state }) => state !== 'delivered');
  return {
    numDeliveries: attempted.length,
    numFailed: failed.length,
    ...omitUndefined({ failureReason: failed[0]?.failureReason ?? failureReason }),
  };
}

/** Lists the webhook URLs of the app with their health, and what the newest deliveries say about them. */
export async function listWebhookUrls(
  service: Service,
  { name, webhookSettings }: App,
  newest: readonly WebhookDelivery[],
) {
  const { urls = [], sandboxUrls = [] } = webhookSettings ?? {};
  const listed = [...new Set([...urls, ...sandboxUrls])].map(async (url) => {
    const health = await findUrlHealth(service, name, url);
    const { disabledAt, backoffUntil, consecutiveFailures, failingSince, failureReason } = health;
    const isInBackoff = backoffUntil !== undefined && backoffUntil > service.now();
    const isFailing = failingSince !== undefined && service.now() - failingSince >= minFailureMs;
    return {
      url: toDisplayUrl(url),
      state: selectState({ isDisabled: disabledAt !== undefined, isInBackoff, isFailing }),
      recent: countRecent(newest, url, failureReason),
      ...(isFailing && { failing: { since: toIso(failingSince), message: failureReason ?? '' } }),
      ...(disabledAt !== undefined && { disabledAt: toIso(disabledAt) }),
      ...(isInBackoff && { backoffUntil: toIso(backoffUntil) }),
      ...omitUndefined({ consecutiveFailures }),
    };
  });
  return await Promise.all(listed);
}

interface UrlConditions {
  readonly isDisabled: boolean;
  readonly isInBackoff: boolean;
  readonly isFailing: boolean;
}

function selectState({ isDisabled, isInBackoff, isFailing }: UrlConditions): 'disabled' | 'backoff' | 'failing' | 'ok' {
  if (isDisabled) return 'disabled';
  if (isInBackoff) return 'backoff';
  return isFailing ? 'failing' : 'ok';
}
