import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { logFailure } from '../events/log-failure.ts';
import type { Announcement } from '../notifications/announcement.ts';
import { type Announced, announcedBy } from './announced.ts';
import { type Delivery, newDelivery } from './delivery.ts';

/**
 * Makes a delivery for each thing that records of the stream announce, each user concerned and each URL, and sends them on
 * their way. What fails is given back: from the first failure on, the stream shows the records again, and deliveries that
 * exist stay as they are.
 */
export async function fanOut(records: readonly DynamoDBRecord[], deps: Deps): Promise<DynamoDBBatchResponse> {
  const find = onceEach(deps.apps.find);
  const outcomes = await Promise.all(records.map(async (record) => await prepared(record, find, deps)));
  const failed = new Set(outcomes.flatMap(({ failure }, index) => (failure ? [index] : [])));
  const apps = [...new Set(outcomes.flatMap(({ deliveries }) => deliveries.map(({ app }) => app)))];
  await Promise.all(
    apps.map(async (app) => {
      const own = outcomes.map(({ deliveries }) => deliveries.filter((delivery) => delivery.app === app));
      const failure = await attempted(async () => await sendOut(own.flat(), deps));
      if (failure) own.forEach((deliveries, index) => void (deliveries.length > 0 && failed.add(index)));
    }),
  );
  const [first] = [...failed].sort((a, b) => a - b).map((index) => records[index]?.dynamodb?.SequenceNumber ?? '');
  return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
}

/** A purchase may have thousands of users, and the stream waits. */
const together = 25;

interface Prepared {
  readonly deliveries: readonly Delivery[];
  readonly failure?: ServiceError;
}

type Find = Deps['apps']['find'];

/** Asks for each application once, and never for settings as they were a while ago: a URL may have just been set. */
function onceEach(find: Find): Find {
  const asked = new Map<string, ReturnType<Find>>();
  return async (name) => {
    const answer = asked.get(name) ?? find(name);
    asked.set(name, answer);
    return await answer;
  };
}

async function prepared(record: DynamoDBRecord, find: Find, deps: Deps): Promise<Prepared> {
  let deliveries: readonly Delivery[] = [];
  const failure = await attempted(async () => {
    const announced = announcedBy(record);
    const app = announced && (await find(announced.app));
    const made = announced && app ? deliveriesOf(announced, app, deps.now()) : [];
    for (let first = 0; first < made.length; first += together) {
      await Promise.all(made.slice(first, first + together).map(deps.deliveries.create));
    }
    deliveries = made;
  });
  return { deliveries, ...(failure && { failure }) };
}

async function attempted(work: () => Promise<void>): Promise<ServiceError | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    const failure = ServiceError.from(thrown);
    logFailure({ worker: 'fan-out' }, failure);
    return failure;
  }
}

/** Sandbox purchases go to the sandbox URLs where there are any; the main URLs take everything else. */
export function urlsFor({ webhook, deletedAt }: App, sandbox: boolean | undefined): readonly string[] {
  if (!webhook || deletedAt !== undefined) return [];
  return sandbox && webhook.sandboxUrls.length > 0 ? webhook.sandboxUrls : webhook.urls;
}

/** A delivery for each thing that is announced, each user and each URL. */
export function deliveriesOf({ app, news, users, purchase }: Announced, settings: App, now: number): Delivery[] {
  const { sandbox, ...concerned } = purchase;
  const notifications = news.map(({ id, reason, date }: Announcement) => ({ id, reason, date, ...concerned }));
  return notifications.flatMap((notification) =>
    users.flatMap((username) =>
      urlsFor(settings, sandbox).map((url) =>
        newDelivery({ app, type: 'purchases.updated', url, username, notification, createdAt: now }),
      ),
    ),
  );
}

/** Puts new deliveries of one application on the queue, in its own group: a backlog of one delays no other. */
export async function sendOut(deliveries: readonly Delivery[], { webhooksQueue }: Deps): Promise<void> {
  const [first] = deliveries;
  if (!first) return;
  const orders = deliveries.map(({ app, deliveryId, attempts: attempt }) => ({ app, deliveryId, attempt }));
  await webhooksQueue.send(orders, { group: first.app });
}
