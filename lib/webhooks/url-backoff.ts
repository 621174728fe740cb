import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { disableWebhookUrl, enableWebhookUrl, saveUrlBackoff } from './delivery-table.ts';
import { isGoneResponse, markDead, postpone } from './delivery-transitions.ts';
import { computeUrlBackoffMs, type WebhookUrlHealth } from './endpoint-health.ts';
import { maxRetryDurationMs } from './retry-schedule.ts';

/** Returns the dead or postponed delivery if its URL is disabled or in backoff, otherwise undefined. */
export function skipIfBlocked(
  delivery: WebhookDelivery,
  urlHealth: WebhookUrlHealth,
  now: EpochMillis,
): WebhookDelivery | undefined {
  if (delivery.type === 'test') return undefined;
  if (urlHealth.disabledAt !== undefined)
    return markDead(delivery, 'The webhook URL is disabled: the server responded with 410.');
  const { backoffUntil = 0 } = urlHealth;
  if (delivery.failedAttempts > 0 || backoffUntil <= now) return undefined;
  // Its own attempts decide, not its age: the service could have been stopped for days.
  if (now - delivery.createdAt > maxRetryDurationMs) return undefined;
  // Spreads the postponed deliveries over half of the backoff time.
  const spreadMs = Math.random() * 0.5 * computeUrlBackoffMs(urlHealth.consecutiveFailures ?? 1);
  return postpone(delivery, Math.ceil(backoffUntil + spreadMs));
}

/**
 * Starts a backoff for an unresponsive URL, because its timeouts occupy the workers. `urlHealth` can be stale: of
 * concurrent responses, 410 takes precedence, except over a response to the operator's test.
 */
export async function updateUrlHealth(
  { appName, url, type }: WebhookDelivery,
  {
    outcome,
    urlHealth,
    service,
  }: {
    outcome: PostOutcome;
    urlHealth: WebhookUrlHealth;
    service: Service;
  },
): Promise<void> {
  if (isGoneResponse(outcome)) return await disableWebhookUrl(service, appName, url, service.now());
  if ('status' in outcome && type === 'test') return await enableWebhookUrl(service, appName, url);
  if ('status' in outcome)
    return urlHealth.backoffUntil === undefined ? undefined : await saveUrlBackoff(service, appName, url, {});
  if (outcome.failure === 'forbidden') return;
  // Concurrent failures during a backoff count once.
  const isInBackoff = (urlHealth.backoffUntil ?? 0) > service.now();
  const consecutiveFailures = (urlHealth.consecutiveFailures ?? 0) + (isInBackoff ? 0 : 1);
  await saveUrlBackoff(service, appName, url, {
    consecutiveFailures,
    backoffUntil: service.now() + computeUrlBackoffMs(consecutiveFailures),
  });
}
