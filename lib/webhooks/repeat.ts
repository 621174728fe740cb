import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { EventRecord } from '../events/event.ts';
import { newDelivery, type WebhookNotification } from './delivery.ts';
import { sendOut, urlsFor } from './fan-out.ts';

/** Events that share one request id, for example because a client sent its own twice. */
const mostSearched = 20;

interface Repeated {
  readonly username: string;
  readonly purchaseId?: string;
}

/**
 * Has the user of a past request told again, as a notification of its own. Throws `ResourceNotFound` for an id of nothing,
 * `InvalidPayload` for a request without a user, and `Conflict` when the application takes no webhooks.
 */
export async function repeatWebhook(app: App, reqId: string, deps: Deps): Promise<Repeated> {
  const event = await eventOf(app.name, reqId, deps);
  if (!event) throw new ServiceError('ResourceNotFound', 'There is no such request.');
  const { applicationUsername: username } = event;
  if (username === undefined) throw new ServiceError('InvalidPayload', 'The request concerned no user.');
  const { sandbox, ...concerned } = await purchaseOf(app.name, event, deps);
  const urls = urlsFor(app, sandbox);
  if (urls.length === 0) throw new ServiceError('Conflict', 'The application has no webhook URL.');
  const createdAt = deps.now();
  const notification: WebhookNotification = { id: newId(), reason: 'REPEATED', date: createdAt, ...concerned };
  const deliveries = urls.map((url) =>
    newDelivery({ app: app.name, type: 'purchases.updated', url, username, notification, createdAt }),
  );
  for (const delivery of deliveries) await deps.deliveries.create(delivery);
  await sendOut(deliveries, deps);
  return { username, ...(concerned.purchaseId !== undefined && { purchaseId: concerned.purchaseId }) };
}

const newId = (): string => randomUUID().replaceAll('-', '');

/** By its own id, or the latest with that request or notification id; one with a user is preferred. */
async function eventOf(app: string, reqId: string, { events }: Deps): Promise<EventRecord | undefined> {
  const exact = await events.find(app, reqId);
  if (exact) return exact;
  const tagged = await events.latestWith(app, [reqId], mostSearched);
  const requests = tagged.filter(({ reqId: own }) => own === reqId);
  return requests.find(({ applicationUsername }) => applicationUsername !== undefined) ?? requests[0];
}

type Concerned = Pick<WebhookNotification, 'purchaseId' | 'productId' | 'transactionId'> & {
  readonly sandbox?: boolean;
};

/** The purchase that the request was about, as it is now; nothing when it was about none or several. */
async function purchaseOf(app: string, { content }: EventRecord, { purchases }: Deps): Promise<Concerned> {
  const ids = new Set(content.purchases.map(({ purchaseId }) => purchaseId));
  const [purchaseId] = ids;
  if (ids.size !== 1 || typeof purchaseId !== 'string') return {};
  const found = await purchases.find(app, purchaseId);
  if (!found) return {};
  const { productId, transactionId, sandbox } = found.purchase;
  return { purchaseId, productId, transactionId, sandbox };
}
