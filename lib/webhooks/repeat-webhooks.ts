import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { EventRecord } from '../events/event.ts';
import { listEventsByTags } from '../events/event-list-table.ts';
import { findEvent } from '../events/event-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { platforms } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { findPurchases } from '../purchases/purchase-table.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { WebhookDelivery, WebhookNotification } from './delivery.ts';
import { createDeliveryIfAbsent } from './delivery-table.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { buildForUrls, missingWebhookUrlError } from './select-webhook-urls.ts';

/**
 * Several events can have one request id: clients retry requests, and a notification has one event for each webhook.
 */
const maxEvents = 100;

/**
 * Sends new webhooks with reason `REPEATED` for the events of a request id. `eventId` is the event of this call. The
 * recipients are the user of the request or, for an event of a store, all users entitled to its purchases now. Throws
 * `ResourceNotFound` if it does not find the event, `InvalidPayload` if the events lack a recipient or the app lacks a
 * webhook URL.
 */
export async function repeatWebhooks(
  service: Service,
  app: App,
  { reqId, eventId }: { readonly reqId: string; readonly eventId: string },
): Promise<readonly WebhookDelivery[]> {
  const events = await findEvents(service, app.name, reqId);
  if (events.length === 0) throw new ServiceError('ResourceNotFound', 'The request is not found.');
  const purchases = await loadPurchases(service, app.name, events);
  const subjects = new Map(events.flatMap((event) => findRecipients(event, purchases)));
  if (subjects.size === 0)
    throw new ServiceError('InvalidPayload', 'The request has no customer. Pass the id of a request that names one.');
  const input = { id: randomUUID(), createdAt: service.now(), purchases, eventId };
  const deliveries = [...subjects].flatMap(([username, subject]) =>
    buildDeliveriesForUser(app, username, { ...input, ...subject }),
  );
  if (deliveries.length === 0) throw missingWebhookUrlError();
  for (const delivery of deliveries) await createDeliveryIfAbsent(service, delivery);
  await enqueueDeliveries(service, deliveries);
  return deliveries;
}

/** Lists the events of a request id, or the event with this event id; oldest first. */
async function findEvents(service: Service, appName: string, reqId: string): Promise<EventRecord[]> {
  const [eventById, taggedEvents] = await Promise.all([
    findEvent(service, appName, reqId),
    listEventsByTags(service, appName, [reqId], maxEvents),
  ]);
  const oldestFirst = taggedEvents.filter((event) => event.reqId === reqId).reverse();
  return eventById ? [...oldestFirst, eventById] : oldestFirst;
}

type Row = Readonly<Record<string, unknown>>;
type PurchasesById = ReadonlyMap<string, EntitledPurchase>;

/** Loads the current state of the purchases in the events. */
async function loadPurchases(
  service: Service,
  appName: string,
  events: readonly EventRecord[],
): Promise<PurchasesById> {
  const rows = events.flatMap((event) =>
    isStoreEvent(event) ? event.content.purchases : event.content.purchases.slice(0, 1),
  );
  const ids = rows.map(getPurchaseId).filter((id) => id !== undefined);
  const entitledPurchases = await findPurchases(service, appName, ids);
  return new Map(entitledPurchases.map((entitled) => [entitled.purchase.purchaseId, entitled]));
}

const storeEventTypes = new Set([
  'receipt.refreshed',
  ...platforms.flatMap((platform) => [`webhook.${platform}.called`, `webhook.${platform}.recovered`]),
]);

/** The event concerns all users of its purchases, not only the one user that it names. */
const isStoreEvent = ({ type }: EventRecord): boolean => storeEventTypes.has(type);

/** The subject of a user's webhook. */
interface RepeatSubject {
  readonly event: EventRecord;
  /** The purchase in the event's content. */
  readonly purchase: Row | undefined;
}

/** The last entry of a user takes precedence: the latest event, and in it the first purchase that entitles the user. */
function findRecipients(event: EventRecord, purchases: PurchasesById): [username: string, subject: RepeatSubject][] {
  const { applicationUsername, content } = event;
  const requestUser: [string, RepeatSubject][] =
    applicationUsername === undefined ? [] : [[applicationUsername, { event, purchase: content.purchases[0] }]];
  const storePurchases = isStoreEvent(event) ? content.purchases.toReversed() : [];
  const entitledUsers = storePurchases.flatMap((purchase) =>
    getEntitledUsers(purchase, purchases).map((username): [string, RepeatSubject] => [username, { event, purchase }]),
  );
  return [...requestUser, ...entitledUsers];
}

const getEntitledUsers = (purchase: Row, purchases: PurchasesById): readonly string[] =>
  purchases.get(getPurchaseId(purchase) ?? '')?.entitledUsers ?? [];

interface RepeatInput extends RepeatSubject {
  readonly id: string;
  readonly createdAt: EpochMillis;
  readonly purchases: PurchasesById;
  /** The event of the call. */
  readonly eventId: string;
}

function buildDeliveriesForUser(
  app: App,
  username: string,
  { id, createdAt, purchases, eventId, ...subject }: RepeatInput,
): WebhookDelivery[] {
  const subjectIds = findSubjectIds(subject);
  const sandbox = purchases.get(subjectIds.purchaseId ?? '')?.purchase.sandbox;
  const notification: WebhookNotification = { id, reason: 'REPEATED', date: createdAt, ...subjectIds };
  return buildForUrls(app, sandbox, { type: 'purchases.updated', username, notification, createdAt, eventId });
}

function findSubjectIds({
  event: { content },
  purchase,
}: RepeatSubject): Pick<WebhookNotification, 'productId' | 'purchaseId' | 'transactionId'> {
  const transaction = [...content.notifications, ...content.transactions].find(
    (row: Row) => row.purchaseId === purchase?.purchaseId && 'transactionId' in row,
  );
  return {
    ...pickText(purchase, 'productId'),
    ...pickText(purchase, 'purchaseId'),
    ...pickText(transaction, 'transactionId'),
  };
}

const getPurchaseId = (row: Row): string | undefined => pickText(row, 'purchaseId').purchaseId;

const pickText = <F extends string>(row: Row | undefined, field: F): { [K in F]?: string } => {
  const value = row?.[field];
  return (typeof value === 'string' ? { [field]: value } : {}) as { [K in F]?: string };
};
