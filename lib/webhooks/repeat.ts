import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { FoundPurchase } from '../db/purchases.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { EventRecord } from '../events/event.ts';
import { platforms } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import { type Delivery, newDelivery, type WebhookNotification } from './delivery.ts';
import { sendOut, urlsFor } from './fan-out.ts';

/** A request may be known by one id several times: clients repeat theirs, and a notification has an event a webhook. */
const mostEvents = 100;

/**
 * Has the application's server told again of a past request, or of a notification, under a fresh id: of what happened at a
 * store each user who owns the purchases now. Throws `ResourceNotFound` for an id that nothing is known by, and
 * `InvalidPayload` where no user was concerned.
 */
export async function repeatWebhooks(app: App, reqId: string, deps: Deps): Promise<readonly Delivery[]> {
  const events = await eventsOf(app.name, reqId, deps);
  if (events.length === 0) throw new ServiceError('ResourceNotFound', 'There is no such request.');
  const found = await purchasesOf(app.name, events, deps);
  const concerned = new Map(events.flatMap((event) => usersOf(event, found)));
  if (concerned.size === 0) throw new ServiceError('InvalidPayload', 'This request was about no user.');
  const told = { id: randomUUID(), createdAt: deps.now(), found };
  const deliveries = [...concerned].flatMap(([username, about]) => deliveriesTo(app, username, { ...told, ...about }));
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

type Row = Readonly<Record<string, unknown>>;
type Purchases = ReadonlyMap<string, FoundPurchase>;

/** By id, as they are now. */
async function purchasesOf(app: string, events: readonly EventRecord[], { purchases }: Deps): Promise<Purchases> {
  const rows = events.flatMap((event) =>
    isOfStore(event) ? event.content.purchases : event.content.purchases.slice(0, 1),
  );
  const ids = rows.map(purchaseIdOf).filter((id) => id !== undefined);
  const found = await purchases.findAll(app, ids);
  return new Map(found.map((one) => [one.purchase.purchaseId, one]));
}

const storeEvents = new Set(['receipt.refreshed', ...platforms.map((platform) => `webhook.${platform}.called`)]);
/** Such an event names one user; what happened concerns all who own the purchases. */
const isOfStore = ({ type }: EventRecord): boolean => storeEvents.has(type);

/** Of what a user is told. */
interface About {
  readonly event: EventRecord;
  /** As the event shows it. */
  readonly purchase: Row | undefined;
}

/** The last one of a user counts: of several events the latest, and of an event's purchases the first that is the user's own. */
function usersOf(event: EventRecord, found: Purchases): [string, About][] {
  const { applicationUsername, content } = event;
  const own: [string, About][] =
    applicationUsername === undefined ? [] : [[applicationUsername, { event, purchase: content.purchases[0] }]];
  const shown = isOfStore(event) ? content.purchases.toReversed() : [];
  const owners = shown.flatMap((purchase) =>
    ownersOf(purchase, found).map((username): [string, About] => [username, { event, purchase }]),
  );
  return [...own, ...owners];
}

const ownersOf = (purchase: Row, found: Purchases): readonly string[] =>
  found.get(purchaseIdOf(purchase) ?? '')?.entitledUsers ?? [];

interface Telling extends About {
  readonly id: string;
  readonly createdAt: Millis;
  readonly found: Purchases;
}

function deliveriesTo(app: App, username: string, { id, createdAt, found, ...about }: Telling): Delivery[] {
  const concerned = concernedBy(about);
  const sandbox = found.get(concerned.purchaseId ?? '')?.purchase.sandbox;
  const notification: WebhookNotification = { id, reason: 'REPEATED', date: createdAt, ...concerned };
  return urlsFor(app, sandbox).map((url) =>
    newDelivery({ app: app.name, type: 'purchases.updated', url, username, notification, createdAt }),
  );
}

function concernedBy({
  event: { content },
  purchase,
}: About): Pick<WebhookNotification, 'productId' | 'purchaseId' | 'transactionId'> {
  const isOfIt = (row: Row) => row.purchaseId === purchase?.purchaseId && 'transactionId' in row;
  const transaction = [...content.notifications, ...content.transactions].find(isOfIt);
  return {
    ...textOf(purchase, 'productId'),
    ...textOf(purchase, 'purchaseId'),
    ...textOf(transaction, 'transactionId'),
  };
}

const purchaseIdOf = (row: Row): string | undefined => textOf(row, 'purchaseId').purchaseId;

const textOf = <F extends string>(row: Row | undefined, field: F): { [K in F]?: string } => {
  const value = row?.[field];
  return (typeof value === 'string' ? { [field]: value } : {}) as { [K in F]?: string };
};
