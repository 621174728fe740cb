import type { AppRepository } from '../apps/app-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { minuteMs, secondMs } from '../shared/time.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import { applyAttempt, computeQueueDelaySeconds, markDead, waitInOrder } from '../webhooks/delivery-transitions.ts';
import { type ChainEntry, toChainEntry } from '../webhooks/forward-order.ts';
import { maxRetryDurationMs } from '../webhooks/retry-schedule.ts';
import { skipIfBlocked, updateUrlHealth } from '../webhooks/url-backoff.ts';
import { type AttemptForwardDeps, attemptForward } from './attempt-forward.ts';
import { type CreateForwardDeps, createForwards } from './create-forwards.ts';
import type { ForwardAttempt, ForwardMessage } from './forward-message.ts';

type SendForwardDeps = AttemptForwardDeps &
  CreateForwardDeps & {
    readonly apps: Pick<AppRepository, 'findWebhookSender'>;
    readonly deliveries: DeliveryRepository;
  };

/** Maximum difference between the clocks of two machines. */
const clockSkewMs = 2 * secondMs;
/** A waiting message is due again after this time, in case that the one before it ended without a message to it. */
const waitMs = 30 * minuteMs;

/** Creates the forwards of a store message, or attempts a forward. At least once, and in order for each purchase. */
export async function sendForward(message: ForwardMessage, deps: SendForwardDeps): Promise<void> {
  if ('content' in message) return await createForwards(message, deps);
  const delivery = await findReady(message, deps);
  const entry = delivery && toChainEntry(delivery);
  if (!entry) return;
  if (await isFirst(entry, deps)) {
    const after = await attemptOrSkip(delivery, deps).catch((error: unknown) => countFailure(delivery, error, deps));
    await save(delivery, after, deps);
  } else await deps.deliveries.replaceIfUnchanged(delivery, waitInOrder(delivery, deps.now() + waitMs), deps.now());
}

/** Returns the delivery if the requested attempt is not a duplicate, stale or too early. */
async function findReady(
  { appName, deliveryId, failedAttempts }: ForwardAttempt,
  { deliveries, now }: SendForwardDeps,
): Promise<WebhookDelivery | undefined> {
  const delivery = await deliveries.find(appName, deliveryId);
  const isStale = failedAttempts !== undefined && failedAttempts !== delivery?.failedAttempts;
  if (delivery?.state !== 'pending' || isStale) return undefined;
  return (delivery.nextAttemptAt ?? 0) > now() + clockSkewMs ? undefined : delivery;
}

/** Whether no earlier message of the purchase waits for the same URL. Removes entries of deliveries that have ended. */
async function isFirst(
  { appName, chain, receivedAt, deliveryId }: ChainEntry,
  { chains, deliveries }: SendForwardDeps,
): Promise<boolean> {
  for (;;) {
    const first = await chains.findFirst(appName, chain);
    if (!first || first.deliveryId === deliveryId || first.receivedAt > receivedAt) return true;
    if ((await deliveries.find(appName, first.deliveryId))?.state === 'pending') return false;
    await chains.remove(first);
  }
}

async function attemptOrSkip(delivery: WebhookDelivery, deps: SendForwardDeps): Promise<WebhookDelivery> {
  const { appName, url, createdAt } = delivery;
  const [sender, forwards, urlHealth] = await Promise.all([
    deps.apps.findWebhookSender(appName),
    deps.appCache.findForwards(appName),
    deps.deliveries.findUrlHealth(appName, url),
  ]);
  if (!sender || sender.app.deletedAt !== undefined) return markDead(delivery, 'The app is deleted.');
  if (!forwards?.some((forward) => forward.url === url)) return markDead(delivery, 'The app has removed the forward.');
  const skipped = skipIfBlocked(delivery, urlHealth, deps.now());
  if (skipped) return skipped;
  const { outcome, startedAt } = await attemptForward(delivery, sender, deps);
  await updateUrlHealth(delivery, { outcome, urlHealth, deps });
  const now = deps.now();
  const after = applyAttempt(delivery, outcome, { now, random: Math.random(), startedAt });
  // A message that waited for others has fewer attempts, and ends with them.
  const isOver = after.state === 'pending' && now - createdAt > maxRetryDurationMs;
  return isOver ? markDead(after, 'The server did not accept the message for more than three days.') : after;
}

/** Counts an internal error as a failed attempt, so the delivery is listed and retried for days. */
function countFailure(delivery: WebhookDelivery, error: unknown, { now }: SendForwardDeps): WebhookDelivery {
  const failure = ServiceError.fromUnknown(error);
  logError({ worker: 'send-forward', app: delivery.appName, deliveryId: delivery.deliveryId }, failure);
  const message = `The message could not be sent: ${failure.message}`;
  return applyAttempt(delivery, { failure: 'no-connection', message }, { now: now(), random: Math.random() });
}

/** Saves the result, and enqueues the retry, or the next message of the purchase after the end of the delivery. */
async function save(before: WebhookDelivery, after: WebhookDelivery, deps: SendForwardDeps): Promise<void> {
  const { appName, deliveryId, failedAttempts, state } = after;
  const isSaved = await deps.deliveries.replaceIfUnchanged(before, after, deps.now());
  const entry = toChainEntry(after);
  if (!isSaved || !entry) return;
  if (state !== 'pending') return await continueChain(entry, deps);
  const delaySeconds = computeQueueDelaySeconds(after, deps.now());
  if (delaySeconds === undefined || failedAttempts === before.failedAttempts) return;
  await deps.forwardQueue.send([{ appName, deliveryId, failedAttempts }], { delaySeconds, group: appName });
}

async function continueChain(ended: ChainEntry, { chains, forwardQueue }: SendForwardDeps): Promise<void> {
  await chains.remove(ended);
  const next = await chains.findFirst(ended.appName, ended.chain);
  if (!next) return;
  await forwardQueue.send([{ appName: next.appName, deliveryId: next.deliveryId }], { group: next.appName });
}
