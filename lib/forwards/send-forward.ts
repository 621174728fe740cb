import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import { minuteMs, secondMs } from '../foundation/time.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import { findDelivery, replaceDelivery } from '../webhooks/delivery-table.ts';
import { applyAttempt, computeQueueDelaySeconds, markDead, waitInOrder } from '../webhooks/delivery-transitions.ts';
import {
  type ChainEntry,
  findFirstOfForwardChain,
  removeFromForwardChain,
  toChainEntry,
} from '../webhooks/forward-chain-table.ts';
import { maxRetryDurationMs } from '../webhooks/retry-schedule.ts';
import { readSender, readUrlHealth } from '../webhooks/shared-reads.ts';
import { skipIfBlocked, updateUrlHealth } from '../webhooks/update-url-health.ts';
import { attemptForward } from './attempt-forward.ts';
import { createForwards } from './create-forwards.ts';
import type { ForwardAttempt, ForwardMessage } from './forward-message.ts';
import { findCachedForwards } from './forward-table.ts';

/** Maximum difference between the clocks of two machines. */
const clockSkewMs = 2 * secondMs;

/** A waiting message is due again after this time, in case that the one before it ended without a message to it. */
const waitMs = 30 * minuteMs;

/** Creates the forwards of a store message, or attempts a forward. At least once, and in order for each purchase. */
export async function sendForward(service: Service, message: ForwardMessage): Promise<void> {
  if ('content' in message) return await createForwards(service, message);
  const delivery = await findReady(service, message);
  const entry = delivery && toChainEntry(delivery);
  if (!entry) return;
  if (await isFirst(service, entry)) {
    const after = await attemptOrSkip(service, delivery).catch((error: unknown) =>
      countFailure(service, delivery, error),
    );
    await save(service, delivery, after);
  } else await replaceDelivery(service, delivery, waitInOrder(delivery, service.now() + waitMs), service.now());
}

/** Returns the delivery if the requested attempt is not a duplicate, stale or too early. */
async function findReady(
  service: Service,
  { appName, deliveryId, failedAttempts }: ForwardAttempt,
): Promise<WebhookDelivery | undefined> {
  const delivery = await findDelivery(service, appName, deliveryId);
  const isStale = failedAttempts !== undefined && failedAttempts !== delivery?.failedAttempts;
  if (delivery?.state !== 'pending' || isStale) return undefined;
  return (delivery.nextAttemptAt ?? 0) > service.now() + clockSkewMs ? undefined : delivery;
}

/** No earlier message of the purchase waits for the same URL. Removes entries of deliveries that have ended. */
async function isFirst(service: Service, { appName, chain, receivedAt, deliveryId }: ChainEntry): Promise<boolean> {
  for (;;) {
    const first = await findFirstOfForwardChain(service, appName, chain);
    if (!first || first.deliveryId === deliveryId || first.receivedAt > receivedAt) return true;
    if ((await findDelivery(service, appName, first.deliveryId))?.state === 'pending') return false;
    await removeFromForwardChain(service, first);
  }
}

async function attemptOrSkip(service: Service, delivery: WebhookDelivery): Promise<WebhookDelivery> {
  const { appName, url, createdAt } = delivery;
  const [sender, forwards, urlHealth] = await Promise.all([
    readSender(service, appName),
    findCachedForwards(service, appName),
    readUrlHealth(service, appName, url),
  ]);
  if (!sender || sender.app.deletedAt !== undefined) return markDead(delivery, 'The app is deleted.');
  if (!forwards?.some((forward) => forward.url === url)) return markDead(delivery, 'The app has removed the forward.');
  const skipped = skipIfBlocked(delivery, urlHealth, service.now());
  if (skipped) return skipped;
  const { outcome, startedAt } = await attemptForward(service, delivery, sender);
  await updateUrlHealth(service, delivery, { outcome, urlHealth });
  const now = service.now();
  const after = applyAttempt(delivery, outcome, { now, random: Math.random(), startedAt });
  // A message that waited for others has fewer attempts, and ends with them.
  const isOver = after.state === 'pending' && now - createdAt > maxRetryDurationMs;
  return isOver ? markDead(after, 'The server did not accept the message for more than three days.') : after;
}

/** Counts an internal error as a failed attempt, so the delivery is listed and retried for days. */
function countFailure({ now }: Service, delivery: WebhookDelivery, error: unknown): WebhookDelivery {
  const failure = ServiceError.fromUnknown(error);
  const { appName, deliveryId, eventId } = delivery;
  logError({ worker: 'send-forward', app: appName, deliveryId, eventId }, failure);
  const message = `The message could not be sent: ${failure.message}`;
  return applyAttempt(delivery, { failure: 'no-connection', message }, { now: now(), random: Math.random() });
}

/** Saves the result, and enqueues the retry, or the next message of the purchase after the end of the delivery. */
async function save(service: Service, before: WebhookDelivery, after: WebhookDelivery): Promise<void> {
  const { appName, deliveryId, failedAttempts, state } = after;
  const isSaved = await replaceDelivery(service, before, after, service.now());
  const entry = toChainEntry(after);
  if (!isSaved || !entry) return;
  if (state !== 'pending') return await continueChain(service, entry);
  const delaySeconds = computeQueueDelaySeconds(after, service.now());
  if (delaySeconds === undefined || failedAttempts === before.failedAttempts) return;
  await service.forwardQueue.send([{ appName, deliveryId, failedAttempts }], { delaySeconds, group: appName });
}

async function continueChain(service: Service, ended: ChainEntry): Promise<void> {
  await removeFromForwardChain(service, ended);
  const next = await findFirstOfForwardChain(service, ended.appName, ended.chain);
  if (!next) return;
  await service.forwardQueue.send([{ appName: next.appName, deliveryId: next.deliveryId }], { group: next.appName });
}
