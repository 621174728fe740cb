import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { disableWebhookUrl, enableWebhookUrl, noBackoff, noFailure, saveUrlHealth } from './delivery-table.ts';
import { describeFailure, isGoneResponse, markDead, postpone } from './delivery-transitions.ts';
import { maxRetryDurationMs } from './retry-schedule.ts';
import { computeUrlBackoffMs, type WebhookUrlHealth } from './url-health.ts';

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
 * Starts a backoff for an unresponsive URL, because its timeouts occupy the workers, and stores when a series of failed
 * attempts starts and ends. `urlHealth` can be stale: of concurrent responses, 410 takes precedence, except over a
 * response to the operator's test. A healthy URL needs no write.
 */
export async function updateUrlHealth(
  service: Service,
  { appName, url, type }: WebhookDelivery,
  { outcome, urlHealth }: { outcome: PostOutcome; urlHealth: WebhookUrlHealth },
): Promise<void> {
  if (isGoneResponse(outcome)) return await disableWebhookUrl(service, appName, url, service.now());
  if ('status' in outcome && type === 'test') return await enableWebhookUrl(service, appName, url);
  const changes = {
    ...computeBackoff(outcome, urlHealth, service.now()),
    ...(type !== 'test' && computeFailure(outcome, urlHealth, service.now())),
  };
  if (Object.keys(changes).length > 0) await saveUrlHealth(service, appName, url, changes);
}

function computeBackoff(
  outcome: PostOutcome,
  { backoffUntil, consecutiveFailures = 0 }: WebhookUrlHealth,
  now: EpochMillis,
) {
  if ('status' in outcome) return backoffUntil === undefined ? {} : noBackoff;
  if (outcome.failure === 'forbidden') return {};
  // Concurrent failures during a backoff count once.
  const numFailures = consecutiveFailures + ((backoffUntil ?? 0) > now ? 0 : 1);
  return { consecutiveFailures: numFailures, backoffUntil: now + computeUrlBackoffMs(numFailures) };
}

/** A known start is not written again: a concurrent success could have ended the series. */
function computeFailure(outcome: PostOutcome, { failingSince }: WebhookUrlHealth, now: EpochMillis) {
  const failureReason = describeFailure(outcome);
  const hasFailed = failureReason !== undefined;
  const isFailing = failingSince !== undefined;
  if (hasFailed === isFailing) return {};
  return hasFailed ? { failingSince: now, failureReason } : noFailure;
}
