import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { EventRecord } from '../events/event.ts';
import { type Delivery, newDelivery, type WebhookNotification } from './delivery.ts';
import { sendOut, urlsFor } from './fan-out.ts';

/** A request may be known by one id several times: clients repeat theirs, and a notification has an event a webhook. */
const mostEvents = 100;

/**
 * Has the application's server told again of a past request, or of a notification, under a fresh id. Throws
 * `ResourceNotFound` for an id that nothing is known by, and `InvalidPayload` where no user was concerned.
 */
export async function repeatWebhooks(app: App, reqId: string, deps: Deps): Promise<readonly Delivery[]> {
  const events = await eventsOf(app.name, reqId, deps);
  if (events.length === 0) throw new ServiceError('ResourceNotFound', 'There is no such request.');
  const concerned = new Map(events.flatMap((event) => userOf(event)));
  if (concerned.size === 0) throw new ServiceError('InvalidPayload', 'This request was about no user.');
  const id = randomUUID();
  const repeated = await Promise.all(
    [...concerned].map(async ([username, event]) => await deliveriesTo(app, { username, event, id, deps })),
  );
  const deliveries = repeated.flat();
  if (deliveries.length === 0) throw new ServiceError('InvalidPayload', 'The application has set no webhook URL.');
  for (const delivery of deliveries) await deps.deliveries.create(delivery);
  await sendOut(deliveries, deps);
  return deliveries;
}

async function eventsOf(app: string, reqId: string, { events }: Deps): Promise<EventRecord[]> {
  const [event, tagged] = await Promise.all([events.find(app, reqId), events.latestWith(app, [reqId], mostEvents)]);
  const oldestFirst = tagged.filter((found) => found.reqId === reqId).reverse();
  return event ? [...oldestFirst, event] : oldestFirst;
}

/** Of several events of a user the last one counts. */
const userOf = (event: EventRecord): [string, EventRecord][] =>
  event.applicationUsername === undefined ? [] : [[event.applicationUsername, event]];

interface Repeating {
  readonly username: string;
  readonly event: EventRecord;
  readonly id: string;
  readonly deps: Deps;
}

async function deliveriesTo(app: App, { username, event, id, deps }: Repeating): Promise<Delivery[]> {
  const createdAt = deps.now();
  const concerned = concernedBy(event);
  const { purchaseId } = concerned;
  const found = purchaseId === undefined ? undefined : await deps.purchases.find(app.name, purchaseId);
  const notification: WebhookNotification = { id, reason: 'REPEATED', date: createdAt, ...concerned };
  return urlsFor(app, found?.purchase.sandbox).map((url) =>
    newDelivery({ app: app.name, type: 'purchases.updated', url, username, notification, createdAt }),
  );
}

function concernedBy({
  content,
}: EventRecord): Pick<WebhookNotification, 'productId' | 'purchaseId' | 'transactionId'> {
  const [purchase, transaction] = [content.purchases[0], content.notifications[0] ?? content.transactions[0]];
  return {
    ...textOf(purchase, 'productId'),
    ...textOf(purchase, 'purchaseId'),
    ...textOf(transaction, 'transactionId'),
  };
}

const textOf = <F extends string>(
  row: Readonly<Record<string, unknown>> | undefined,
  field: F,
): { [K in F]?: string } => {
  const value = row?.[field];
  return (typeof value === 'string' ? { [field]: value } : {}) as { [K in F]?: string };
};
