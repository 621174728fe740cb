import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import type { EventRecord } from '../events/event.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { platforms } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { buildDelivery, type WebhookDelivery, type WebhookNotification } from './delivery.ts';
import { enqueueDeliveries, selectWebhookUrls } from './fan-out.ts';

/** A request may be known by one id several times: clients repeat theirs, and a notification has an event a webhook. */
const maxEvents = 100;

/**
 * Has the application's server told again of a past request, or of a notification, under a fresh id: of what happened at a
 * store each user who owns the purchases now. Throws `ResourceNotFound` for an id that nothing is known by, and
 * `InvalidPayload` where no user was concerned.
 */
export async function repeatWebhooks(app: App, reqId: string, deps: Deps): Promise<readonly WebhookDelivery[]> {
  const events = await findEvents(app.name, reqId, deps);
  if (events.length === 0) throw new ServiceError('ResourceNotFound', 'There is no such request.');
  const loadedPurchases = await loadPurchases(app.name, events, deps);
  const concerned = new Map(events.flatMap((event) => findRecipients(event, loadedPurchases)));
  if (concerned.size === 0) throw new ServiceError('InvalidPayload', 'This request was about no user.');
  const deliveryInput = { id: randomUUID(), createdAt: deps.now(), found: loadedPurchases };
  const deliveries = [...concerned].flatMap(([username, about]) =>
    buildDeliveriesForUser(app, username, { ...deliveryInput, ...about }),
  );
  if (deliveries.length === 0) throw new ServiceError('InvalidPayload', 'The application has set no webhook URL.');
  for (const delivery of deliveries) await deps.deliveries.createIfAbsent(delivery);
  await enqueueDeliveries(deliveries, deps);
  return deliveries;
}

async function findEvents(appName: string, reqId: string, { events }: Deps): Promise<EventRecord[]> {
  const [event, tagged] = await Promise.all([
    events.find(appName, reqId),
    events.listByTags(appName, [reqId], maxEvents),
  ]);
  const oldestFirst = tagged.filter((loadedPurchases) => loadedPurchases.reqId === reqId).reverse();
  return event ? [...oldestFirst, event] : oldestFirst;
}

type Row = Readonly<Record<string, unknown>>;
type PurchasesById = ReadonlyMap<string, EntitledPurchase>;

/** By id, as they are now. */
async function loadPurchases(
  appName: string,
  events: readonly EventRecord[],
  { purchases }: Deps,
): Promise<PurchasesById> {
  const rows = events.flatMap((event) =>
    isStoreEvent(event) ? event.content.purchases : event.content.purchases.slice(0, 1),
  );
  const ids = rows.map(getPurchaseId).filter((id) => id !== undefined);
  const loadedPurchases = await purchases.findMany(appName, ids);
  return new Map(loadedPurchases.map((purchase) => [purchase.purchase.purchaseId, purchase]));
}

const storeEvents = new Set(['receipt.refreshed', ...platforms.map((platform) => `webhook.${platform}.called`)]);
/** Such an event names one user; what happened concerns all who own the purchases. */
const isStoreEvent = ({ type }: EventRecord): boolean => storeEvents.has(type);

/** Of what a user is told. */
interface RepeatSubject {
  readonly event: EventRecord;
  /** As the event shows it. */
  readonly purchase: Row | undefined;
}

/** The last one of a user counts: of several events the latest, and of an event's purchases the first that is the user's own. */
function findRecipients(event: EventRecord, loadedPurchases: PurchasesById): [string, RepeatSubject][] {
  const { applicationUsername, content } = event;
  const own: [string, RepeatSubject][] =
    applicationUsername === undefined ? [] : [[applicationUsername, { event, purchase: content.purchases[0] }]];
  const shown = isStoreEvent(event) ? content.purchases.toReversed() : [];
  const owners = shown.flatMap((purchase) =>
    getEntitledUsers(purchase, loadedPurchases).map((username): [string, RepeatSubject] => [
      username,
      { event, purchase },
    ]),
  );
  return [...own, ...owners];
}

const getEntitledUsers = (purchase: Row, loadedPurchases: PurchasesById): readonly string[] =>
  loadedPurchases.get(getPurchaseId(purchase) ?? '')?.entitledUsers ?? [];

interface RepeatDelivery extends RepeatSubject {
  readonly id: string;
  readonly createdAt: EpochMillis;
  readonly found: PurchasesById;
}

function buildDeliveriesForUser(
  app: App,
  username: string,
  { id, createdAt, found: loadedPurchases, ...about }: RepeatDelivery,
): WebhookDelivery[] {
  const concerned = findSubjectIds(about);
  const sandbox = loadedPurchases.get(concerned.purchaseId ?? '')?.purchase.sandbox;
  const notification: WebhookNotification = { id, reason: 'REPEATED', date: createdAt, ...concerned };
  return selectWebhookUrls(app, sandbox).map((url) =>
    buildDelivery({ appName: app.name, type: 'purchases.updated', url, username, notification, createdAt }),
  );
}

function findSubjectIds({
  event: { content },
  purchase,
}: RepeatSubject): Pick<WebhookNotification, 'productId' | 'purchaseId' | 'transactionId'> {
  const isOfIt = (row: Row) => row.purchaseId === purchase?.purchaseId && 'transactionId' in row;
  const transaction = [...content.notifications, ...content.transactions].find(isOfIt);
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
