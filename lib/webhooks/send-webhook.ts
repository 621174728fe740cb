import type { WebhookSender } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { EpochMillis } from '../shared/time.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { WebhookDelivery } from './delivery.ts';
import { applyAttempt, computeQueueDelaySeconds, isGoneResponse, markDead, postpone } from './delivery-transitions.ts';
import { computeUrlBackoffMs, type WebhookUrlHealth } from './endpoint-health.ts';
import type { PostOutcome } from './guarded-post.ts';
import { getCurrentUrls, redirectDelivery } from './redirect-delivery.ts';
import { maxRetryDurationMs } from './retry-schedule.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** Clocks of two machines differ by less. */
const clockSkewMs = 2_000;

/**
 * Sends a webhook that is due, writes down what became of it, and sees to the next attempt. A message that is not about
 * the delivery's next attempt is dropped: it came twice or too late. After a crash at any point the queue's message or the
 * sweep comes again, and at worst the server gets the same `webhook-id` twice.
 */
export async function sendWebhook(message: WebhookMessage, deps: Deps): Promise<void> {
  const { appName, deliveryId, failedAttempts } = message;
  const delivery = await deps.deliveries.find(appName, deliveryId);
  if (delivery?.state !== 'pending' || (failedAttempts !== undefined && failedAttempts !== delivery.failedAttempts))
    return;
  if ((delivery.nextAttemptAt ?? 0) > deps.now() + clockSkewMs) return;
  const after = await attemptOrSkip(delivery, deps).catch((error: unknown) =>
    countInternalFailure(delivery, error, deps.now()),
  );
  await saveAndReschedule(delivery, after, deps);
}

/** Sends the webhook, unless something hinders it, and returns what becomes of its delivery. */
async function attemptOrSkip(delivery: WebhookDelivery, deps: Deps): Promise<WebhookDelivery> {
  const { appName, url } = delivery;
  const [sender, endpoint] = await Promise.all([
    deps.apps.findWebhookSender(appName),
    deps.deliveries.findUrlHealth(appName, url),
  ]);
  if (!sender?.app.webhookSettings || sender.app.deletedAt !== undefined)
    return markDead(delivery, 'The application takes no webhooks any more.');
  const urls = await getCurrentUrls(delivery, sender.app, deps);
  if (!urls.includes(url)) return await redirectDelivery(delivery, urls, deps);
  return findBlocker(delivery, endpoint, deps.now()) ?? (await send(delivery, { sender, endpoint, deps }));
}

/**
 * Our own trouble is a failed attempt as well: the schedule outlasts any outage, and the delivery is listed. The queue would
 * give the message up after a day.
 */
function countInternalFailure(delivery: WebhookDelivery, error: unknown, now: EpochMillis): WebhookDelivery {
  const { appName, deliveryId } = delivery;
  const failure = ServiceError.fromUnknown(error);
  logError({ worker: 'send-webhook', app: appName, deliveryId }, failure);
  const posted: PostOutcome = {
    failure: 'no-connection',
    message: `The webhook could not be sent: ${failure.message}`,
  };
  return applyAttempt(delivery, posted, { now, random: Math.random() });
}

/** What becomes of a delivery whose URL takes none now; undefined for one that is sent. */
function findBlocker(
  delivery: WebhookDelivery,
  endpoint: WebhookUrlHealth,
  now: EpochMillis,
): WebhookDelivery | undefined {
  if (delivery.type === 'test') return undefined;
  if (endpoint.disabledAt !== undefined) return markDead(delivery, 'The URL is switched off: it answered 410.');
  const { backoffUntil = 0 } = endpoint;
  if (delivery.failedAttempts > 0 || backoffUntil <= now) return undefined;
  if (now - delivery.createdAt > maxRetryDurationMs) return markDead(delivery, 'The server did not answer for days.');
  // Spread over half as long again, so that they do not all come at once.
  return postpone(
    delivery,
    Math.ceil(backoffUntil + Math.random() * 0.5 * computeUrlBackoffMs(endpoint.consecutiveFailures ?? 1)),
  );
}

async function send(
  delivery: WebhookDelivery,
  { sender, endpoint, deps }: { sender: WebhookSender; endpoint: WebhookUrlHealth; deps: Deps },
): Promise<WebhookDelivery> {
  const posted = await attemptDelivery(delivery, sender, deps);
  await updateUrlHealth(delivery, { posted, endpoint, deps });
  return applyAttempt(delivery, posted, { now: deps.now(), random: Math.random() });
}

/**
 * A URL that hangs or refuses must not take the workers' time again and again. What is known of it may be old by now: of
 * several answers at once a 410 stands, unless the operator's test was answered.
 */
async function updateUrlHealth(
  { appName, url, type }: WebhookDelivery,
  { posted, endpoint, deps }: { posted: PostOutcome; endpoint: WebhookUrlHealth; deps: Deps },
): Promise<void> {
  const { now, deliveries } = deps;
  if (isGoneResponse(posted)) return await deliveries.disableUrl(appName, url, now());
  if ('status' in posted && type === 'test') return await deliveries.enableUrl(appName, url);
  if ('status' in posted)
    return endpoint.backoffUntil === undefined ? undefined : await deliveries.saveUrlBackoff(appName, url, {});
  if (posted.failure === 'forbidden') return;
  const consecutiveFailures = (endpoint.consecutiveFailures ?? 0) + ((endpoint.backoffUntil ?? 0) <= now() ? 1 : 0);
  await deliveries.saveUrlBackoff(appName, url, {
    consecutiveFailures,
    backoffUntil: now() + computeUrlBackoffMs(consecutiveFailures),
  });
}

async function saveAndReschedule(
  before: WebhookDelivery,
  after: WebhookDelivery,
  { deliveries, webhookQueue, now }: Deps,
): Promise<void> {
  const isSaved = await deliveries.replaceIfUnchanged(before, after, now());
  if (!isSaved || after.state !== 'pending' || after.failedAttempts === before.failedAttempts) return;
  const delaySeconds = computeQueueDelaySeconds(after, now());
  if (delaySeconds === undefined) return;
  const { appName, deliveryId, failedAttempts } = after;
  await webhookQueue.send([{ appName, deliveryId, failedAttempts }], { delaySeconds, group: appName });
}
