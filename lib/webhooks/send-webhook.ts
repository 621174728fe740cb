import type { WebhookSender } from '../db/apps.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { logFailure } from '../events/log-failure.ts';
import type { Millis } from '../purchases/purchase.ts';
import { attemptOf } from './attempt.ts';
import type { Delivery, WebhookOrder } from './delivery.ts';
import { downMs, type EndpointState } from './endpoint-state.ts';
import { afterAttempt, ended, heldUntil, isGone, queueDelaySeconds } from './outcome.ts';
import type { Posted } from './post.ts';
import { redirect, urlsNow } from './redirect.ts';
import { givesUpMs } from './schedule.ts';

/** Clocks of two machines differ by less. */
const earlyMs = 2_000;

/**
 * Sends a webhook that is due, writes down what became of it, and sees to the next attempt. A message that is not about
 * the delivery's next attempt is dropped: it came twice or too late. After a crash at any point the queue's message or the
 * sweep comes again, and at worst the server gets the same `webhook-id` twice.
 */
export async function sendWebhook(order: WebhookOrder, deps: Deps): Promise<void> {
  const { app, deliveryId, attempt } = order;
  const delivery = await deps.deliveries.find(app, deliveryId);
  if (delivery?.state !== 'waiting' || (attempt !== undefined && attempt !== delivery.attempts)) return;
  if ((delivery.nextAt ?? 0) > deps.now() + earlyMs) return;
  const after = await afterSending(delivery, deps).catch((thrown: unknown) => notSent(delivery, thrown, deps.now()));
  await settle(delivery, after, deps);
}

/** Sends the webhook, unless something hinders it, and returns what becomes of its delivery. */
async function afterSending(delivery: Delivery, deps: Deps): Promise<Delivery> {
  const { app, url } = delivery;
  const [sender, endpoint] = await Promise.all([deps.apps.webhookSender(app), deps.deliveries.endpoint(app, url)]);
  if (!sender?.app.webhook || sender.app.deletedAt !== undefined)
    return ended(delivery, 'The application takes no webhooks any more.');
  const urls = await urlsNow(delivery, sender.app, deps);
  if (!urls.includes(url)) return await redirect(delivery, urls, deps);
  return hindrance(delivery, endpoint, deps.now()) ?? (await send(delivery, { sender, endpoint, deps }));
}

/**
 * Our own trouble is a failed attempt as well: the schedule outlasts any outage, and the delivery is listed. The queue would
 * give the message up after a day.
 */
function notSent(delivery: Delivery, thrown: unknown, now: Millis): Delivery {
  const { app, deliveryId } = delivery;
  const failure = ServiceError.from(thrown);
  logFailure({ app, deliveryId }, failure);
  const posted: Posted = { failure: 'no-connection', message: `The webhook could not be sent: ${failure.message}` };
  return afterAttempt(delivery, posted, { now, random: Math.random() });
}

/** What becomes of a delivery whose URL takes none now; undefined for one that is sent. */
function hindrance(delivery: Delivery, endpoint: EndpointState, now: Millis): Delivery | undefined {
  if (delivery.type === 'test') return undefined;
  if (endpoint.offAt !== undefined) return ended(delivery, 'The URL is switched off: it answered 410.');
  const { downUntil = 0 } = endpoint;
  if (delivery.attempts > 0 || downUntil <= now) return undefined;
  if (now - delivery.createdAt > givesUpMs) return ended(delivery, 'The server did not answer for days.');
  // Spread over half as long again, so that they do not all come at once.
  return heldUntil(delivery, Math.ceil(downUntil + Math.random() * 0.5 * downMs(endpoint.failures ?? 1)));
}

async function send(
  delivery: Delivery,
  { sender, endpoint, deps }: { sender: WebhookSender; endpoint: EndpointState; deps: Deps },
): Promise<Delivery> {
  const posted = await attemptOf(delivery, sender, deps);
  await rememberEndpoint(delivery, { posted, endpoint, deps });
  return afterAttempt(delivery, posted, { now: deps.now(), random: Math.random() });
}

/**
 * A URL that hangs or refuses must not take the workers' time again and again. What is known of it may be old by now: of
 * several answers at once a 410 stands, unless the operator's test was answered.
 */
async function rememberEndpoint(
  { app, url, type }: Delivery,
  { posted, endpoint, deps }: { posted: Posted; endpoint: EndpointState; deps: Deps },
): Promise<void> {
  const { now, deliveries } = deps;
  if (isGone(posted)) return await deliveries.switchOff(app, url, now());
  if ('status' in posted && type === 'test') return await deliveries.switchOn(app, url);
  if ('status' in posted)
    return endpoint.downUntil === undefined ? undefined : await deliveries.markEndpoint(app, url, {});
  if (posted.failure === 'forbidden') return;
  const failures = (endpoint.failures ?? 0) + ((endpoint.downUntil ?? 0) <= now() ? 1 : 0);
  await deliveries.markEndpoint(app, url, { failures, downUntil: now() + downMs(failures) });
}

async function settle(before: Delivery, after: Delivery, { deliveries, webhooksQueue, now }: Deps): Promise<void> {
  const isOurs = await deliveries.replace(before, after, now());
  if (!isOurs || after.state !== 'waiting' || after.attempts === before.attempts) return;
  const delaySeconds = queueDelaySeconds(after, now());
  if (delaySeconds === undefined) return;
  const { app, deliveryId, attempts: attempt } = after;
  await webhooksQueue.send([{ app, deliveryId, attempt }], { delaySeconds, group: app });
}
