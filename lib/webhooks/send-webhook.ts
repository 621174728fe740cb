import type { WebhookSender } from '../apps/app.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { type EpochMillis, hourMs, minuteMs, secondMs } from '../foundation/time.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { WebhookDelivery } from './delivery.ts';
import { findDelivery, findUrlHealth, replaceDelivery } from './delivery-table.ts';
import { applyAttempt, computeQueueDelaySeconds, markDead } from './delivery-transitions.ts';
import { toDisplayUrl } from './display-url.ts';
import { getCurrentUrls, redirectDelivery } from './redirect-delivery.ts';
import { readSender, readUrlHealth } from './shared-reads.ts';
import { skipIfBlocked, updateUrlHealth } from './update-url-health.ts';
import type { WebhookUrlHealth } from './url-health.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** Maximum difference between the clocks of two machines. */
const clockSkewMs = 2 * secondMs;

/**
 * Attempts a pending delivery, saves the result and schedules the retry. Ignores duplicate and stale messages. At least
 * once: after a crash, the queue message or the due item repeats the attempt, with the same `webhook-id`.
 */
export async function sendWebhook(service: Service, message: WebhookMessage): Promise<void> {
  const { appName, deliveryId, failedAttempts } = message;
  const delivery = await findDelivery(service, appName, deliveryId);
  if (delivery?.state !== 'pending' || (failedAttempts !== undefined && failedAttempts !== delivery.failedAttempts))
    return;
  // Due and replayed forwards arrive here. They have their own queue, because their servers must not delay webhooks.
  if (delivery.type === 'forward') return await service.forwardQueue.send([message], { group: appName });
  if ((delivery.nextAttemptAt ?? 0) > service.now() + clockSkewMs) return;
  const result = await attemptOrSkip(service, delivery).catch((error: unknown) =>
    countInternalFailure(delivery, error, service.now()),
  );
  await saveAndReschedule(service, delivery, result);
  if (result.failedAttempts > delivery.failedAttempts) await reportFailingUrl(service, result);
}

/** Attempts the delivery, or postpones, redirects or ends it without an attempt. Returns the resulting delivery. */
async function attemptOrSkip(service: Service, delivery: WebhookDelivery): Promise<WebhookDelivery> {
  const { appName, url } = delivery;
  const [sender, urlHealth] = await Promise.all([readSender(service, appName), readUrlHealth(service, appName, url)]);
  if (!sender?.app.webhookSettings || sender.app.deletedAt !== undefined)
    return markDead(delivery, 'The app has disabled webhooks.');
  const urls = await getCurrentUrls(service, delivery, sender.app);
  if (!urls.includes(url)) return await redirectDelivery(service, delivery, urls);
  return skipIfBlocked(delivery, urlHealth, service.now()) ?? (await send(service, delivery, { sender, urlHealth }));
}

/**
 * Counts an internal error as a failed attempt, so the delivery is listed and retried for days. SQS would discard the
 * message after one day.
 */
function countInternalFailure(delivery: WebhookDelivery, error: unknown, now: EpochMillis): WebhookDelivery {
  const { appName, deliveryId, eventId } = delivery;
  const failure = ServiceError.fromUnknown(error);
  logError({ worker: 'send-webhook', app: appName, deliveryId, eventId }, failure);
  const outcome: PostOutcome = {
    failure: 'no-connection',
    message: `The webhook could not be sent: ${failure.message}`,
  };
  return applyAttempt(delivery, outcome, { now, random: Math.random() });
}

async function send(
  service: Service,
  delivery: WebhookDelivery,
  { sender, urlHealth }: { sender: WebhookSender; urlHealth: WebhookUrlHealth },
): Promise<WebhookDelivery> {
  const { outcome, startedAt } = await attemptDelivery(service, delivery, sender);
  await updateUrlHealth(service, delivery, { outcome, urlHealth });
  return applyAttempt(delivery, outcome, { now: service.now(), random: Math.random(), startedAt });
}

/** Logs the last failed attempt of a delivery, which an alarm counts. */
function logDeath(
  before: WebhookDelivery,
  { appName, deliveryId, eventId, state, failedAttempts, failureReason = '' }: WebhookDelivery,
): void {
  if (state !== 'dead' || failedAttempts === before.failedAttempts) return;
  const failure = new ServiceError('ConnectionFailed', failureReason);
  logError({ worker: 'send-webhook', problem: 'WebhookDead', app: appName, deliveryId, eventId }, failure);
}

/** Earlier attempts are made within five minutes. */
const minReportedAttempts = 3;
const reportIntervalMs = 5 * minuteMs;
/** Time of the last report by app and URL. */
const reportTimes = perContainer(() => new Map<string, EpochMillis>());

/** Logs a URL at which every attempt has failed for an hour, which an alarm counts. */
async function reportFailingUrl(
  service: Service,
  { appName, url, failedAttempts, state, failureReason = '' }: WebhookDelivery,
): Promise<void> {
  const now = service.now();
  const key = `${appName} ${url}`;
  const reportedAt = reportTimes(service).get(key) ?? 0;
  if (state !== 'pending' || failedAttempts < minReportedAttempts || now - reportedAt < reportIntervalMs) return;
  reportTimes(service).set(key, now);
  const { failingSince = now } = await findUrlHealth(service, appName, url);
  if (now - failingSince < hourMs) return;
  const failure = new ServiceError('ConnectionFailed', `Every webhook to ${toDisplayUrl(url)} fails: ${failureReason}`);
  logError({ worker: 'send-webhook', problem: 'WebhookUrlFailing', app: appName }, failure);
}

async function saveAndReschedule(service: Service, before: WebhookDelivery, after: WebhookDelivery): Promise<void> {
  const isSaved = await replaceDelivery(service, before, after, service.now());
  if (isSaved) logDeath(before, after);
  if (!isSaved || after.state !== 'pending' || after.failedAttempts === before.failedAttempts) return;
  const delaySeconds = computeQueueDelaySeconds(after, service.now());
  if (delaySeconds === undefined) return;
  const { appName, deliveryId, failedAttempts, eventId } = after;
  const message = omitUndefined({ appName, deliveryId, failedAttempts, eventId });
  await service.webhookQueue.send([message], { delaySeconds, group: appName });
}
