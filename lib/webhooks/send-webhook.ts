import type { App } from '../apps/app.ts';
import type { WebhookSender } from '../db/apps.ts';
import type { Deps } from '../deps.ts';
import type { Millis } from '../purchases/purchase.ts';
import { attemptOf } from './attempt.ts';
import type { Delivery, WebhookOrder } from './delivery.ts';
import { downMs, type EndpointState } from './endpoint-state.ts';
import { afterAttempt, ended, heldUntil, isGone, queueDelaySeconds } from './outcome.ts';
import type { Posted } from './post.ts';
import { redirect } from './redirect.ts';
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
  const [sender, endpoint] = await Promise.all([
    deps.apps.webhookSender(app),
    deps.deliveries.endpoint(app, delivery.url),
  ]);
  const hindered = hindrance(delivery, { sender, endpoint, now: deps.now() });
  if (sender && isElsewhere(delivery, sender.app))
    await settle(delivery, await redirect(delivery, sender.app, deps), deps);
  else if (hindered) await settle(delivery, hindered, deps);
  else if (sender) await send(delivery, { sender, endpoint, deps });
}

interface Found {
  readonly sender: WebhookSender | undefined;
  readonly endpoint: EndpointState;
  readonly now: Millis;
}

/** What becomes of a delivery that is not attempted; undefined for one that is. */
function hindrance(delivery: Delivery, { sender, endpoint, now }: Found): Delivery | undefined {
  if (!sender?.app.webhook || sender.app.deletedAt !== undefined)
    return ended(delivery, 'The application takes no webhooks any more.');
  if (delivery.type === 'test') return undefined;
  if (endpoint.offAt !== undefined) return ended(delivery, 'The URL is switched off: it answered 410.');
  const { downUntil = 0 } = endpoint;
  if (delivery.attempts > 0 || downUntil <= now) return undefined;
  if (now - delivery.createdAt > givesUpMs) return ended(delivery, 'The server did not answer for days.');
  // Spread over half as long again, so that they do not all come at once.
  return heldUntil(delivery, Math.ceil(downUntil + Math.random() * 0.5 * downMs(endpoint.failures ?? 1)));
}

/** Whether the application takes webhooks, and no longer at this URL. */
const isElsewhere = ({ url }: Delivery, { webhook, deletedAt }: App): boolean =>
  webhook !== undefined && deletedAt === undefined && ![...webhook.urls, ...webhook.sandboxUrls].includes(url);

async function send(
  delivery: Delivery,
  { sender, endpoint, deps }: { sender: WebhookSender; endpoint: EndpointState; deps: Deps },
): Promise<void> {
  const posted = await attemptOf(delivery, sender, deps);
  await rememberEndpoint(delivery, { posted, endpoint, deps });
  await settle(delivery, afterAttempt(delivery, posted, { now: deps.now(), random: Math.random() }), deps);
}

/** A URL that hangs or refuses must not take the workers' time again and again. */
async function rememberEndpoint(
  { app, url }: Delivery,
  { posted, endpoint, deps }: { posted: Posted; endpoint: EndpointState; deps: Deps },
): Promise<void> {
  const { now, deliveries } = deps;
  if (isGone(posted)) return await deliveries.setEndpoint(app, url, { offAt: now() });
  if ('status' in posted) {
    const isMarked = endpoint.downUntil !== undefined || endpoint.offAt !== undefined;
    return isMarked ? await deliveries.setEndpoint(app, url, {}) : undefined;
  }
  if (posted.failure === 'forbidden') return;
  const failures = (endpoint.failures ?? 0) + ((endpoint.downUntil ?? 0) <= now() ? 1 : 0);
  const downUntil = now() + downMs(failures);
  await deliveries.setEndpoint(app, url, { ...endpoint, failures, downUntil });
}

async function settle(before: Delivery, after: Delivery, { deliveries, webhooksQueue, now }: Deps): Promise<void> {
  const isOurs = await deliveries.replace(before, after, now());
  if (!isOurs || after.state !== 'waiting' || after.attempts === before.attempts) return;
  const delaySeconds = queueDelaySeconds(after, now());
  if (delaySeconds === undefined) return;
  const { app, deliveryId, attempts: attempt } = after;
  await webhooksQueue.send([{ app, deliveryId, attempt }], { delaySeconds, group: app });
}
