import type { WebhookSender } from '../apps/app.ts';
import type { AppRepository } from '../apps/app-repository.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import { type EpochMillis, secondMs } from '../shared/time.ts';
import { type AttemptDeps, attemptDelivery } from './attempt-delivery.ts';
import type { WebhookDelivery } from './delivery.ts';
import type { DeliveryRepository } from './delivery-repository.ts';
import { applyAttempt, computeQueueDelaySeconds, markDead } from './delivery-transitions.ts';
import type { WebhookUrlHealth } from './endpoint-health.ts';
import type { PostOutcome } from './post-webhook.ts';
import { getCurrentUrls, redirectDelivery } from './redirect-delivery.ts';
import { skipIfBlocked, updateUrlHealth } from './url-backoff.ts';
import type { WebhookMessage } from './webhook-message.ts';

type SendDeps = AttemptDeps & {
  readonly apps: AppRepository;
  readonly deliveries: DeliveryRepository;
  readonly purchases: PurchaseRepository;
  readonly webhookQueue: MessageQueue<WebhookMessage>;
  readonly forwardQueue: MessageQueue<WebhookMessage>;
};

/** Maximum difference between the clocks of two machines. */
const clockSkewMs = 2 * secondMs;

/**
 * Attempts a pending delivery, saves the result and schedules the retry. Ignores duplicate and stale messages. At least
 * once: after a crash, the queue message or the due item repeats the attempt, with the same `webhook-id`.
 */
export async function sendWebhook(message: WebhookMessage, deps: SendDeps): Promise<void> {
  const { appName, deliveryId, failedAttempts } = message;
  const delivery = await deps.deliveries.find(appName, deliveryId);
  if (delivery?.state !== 'pending' || (failedAttempts !== undefined && failedAttempts !== delivery.failedAttempts))
    return;
  // Due and replayed forwards arrive here. They have their own queue, because their servers must not delay webhooks.
  if (delivery.type === 'forward') return await deps.forwardQueue.send([message], { group: appName });
  if ((delivery.nextAttemptAt ?? 0) > deps.now() + clockSkewMs) return;
  const result = await attemptOrSkip(delivery, deps).catch((error: unknown) =>
    countInternalFailure(delivery, error, deps.now()),
  );
  await saveAndReschedule(delivery, result, deps);
}

/** Attempts the delivery, or postpones, redirects or ends it without an attempt. Returns the resulting delivery. */
async function attemptOrSkip(delivery: WebhookDelivery, deps: SendDeps): Promise<WebhookDelivery> {
  const { appName, url } = delivery;
  const [sender, urlHealth] = await Promise.all([
    deps.apps.findWebhookSender(appName),
    deps.deliveries.findUrlHealth(appName, url),
  ]);
  if (!sender?.app.webhookSettings || sender.app.deletedAt !== undefined)
    return markDead(delivery, 'The app has disabled webhooks.');
  const urls = await getCurrentUrls(delivery, sender.app, deps);
  if (!urls.includes(url)) return await redirectDelivery(delivery, urls, deps);
  return skipIfBlocked(delivery, urlHealth, deps.now()) ?? (await send(delivery, { sender, urlHealth, deps }));
}

/**
 * Counts an internal error as a failed attempt, so the delivery is listed and retried for days. SQS would discard the
 * message after one day.
 */
function countInternalFailure(delivery: WebhookDelivery, error: unknown, now: EpochMillis): WebhookDelivery {
  const { appName, deliveryId } = delivery;
  const failure = ServiceError.fromUnknown(error);
  logError({ worker: 'send-webhook', app: appName, deliveryId }, failure);
  const outcome: PostOutcome = {
    failure: 'no-connection',
    message: `The webhook could not be sent: ${failure.message}`,
  };
  return applyAttempt(delivery, outcome, { now, random: Math.random() });
}

async function send(
  delivery: WebhookDelivery,
  { sender, urlHealth, deps }: { sender: WebhookSender; urlHealth: WebhookUrlHealth; deps: SendDeps },
): Promise<WebhookDelivery> {
  const { outcome, startedAt } = await attemptDelivery(delivery, sender, deps);
  await updateUrlHealth(delivery, { outcome, urlHealth, deps });
  return applyAttempt(delivery, outcome, { now: deps.now(), random: Math.random(), startedAt });
}

/** Logs the last failed attempt of a delivery, which an alarm counts. */
function logDeath(
  before: WebhookDelivery,
  { appName, deliveryId, state, failedAttempts, failureReason = '' }: WebhookDelivery,
): void {
  if (state !== 'dead' || failedAttempts === before.failedAttempts) return;
  const failure = new ServiceError('ConnectionFailed', failureReason);
  logError({ worker: 'send-webhook', problem: 'WebhookDead', app: appName, deliveryId }, failure);
}

async function saveAndReschedule(
  before: WebhookDelivery,
  after: WebhookDelivery,
  {
    deliveries,
    webhookQueue,
    now,
  }: {
    readonly deliveries: DeliveryRepository;
    readonly webhookQueue: MessageQueue<WebhookMessage>;
    now(): EpochMillis;
  },
): Promise<void> {
  const isSaved = await deliveries.replaceIfUnchanged(before, after, now());
  if (isSaved) logDeath(before, after);
  if (!isSaved || after.state !== 'pending' || after.failedAttempts === before.failedAttempts) return;
  const delaySeconds = computeQueueDelaySeconds(after, now());
  if (delaySeconds === undefined) return;
  const { appName, deliveryId, failedAttempts } = after;
  await webhookQueue.send([{ appName, deliveryId, failedAttempts }], { delaySeconds, group: appName });
}
