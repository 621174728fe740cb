import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import type { Announcement } from '../purchases/announcement.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import { type PurchaseAnnouncements, readStreamRecord } from './purchase-announcements.ts';

/**
 * Makes a delivery for each thing that records of the stream announce, each user concerned and each URL, and sends them on
 * their way. What fails is given back: from the first failure on, the stream shows the records again, and deliveries that
 * exist stay as they are.
 */
export async function fanOutDeliveries(records: readonly DynamoDBRecord[], deps: Deps): Promise<DynamoDBBatchResponse> {
  const find = memoizeFindApp(deps.apps.find);
  const outcomes = await Promise.all(records.map(async (record) => await createDeliveries(record, find, deps)));
  const failed = new Set(outcomes.flatMap(({ failure }, index) => (failure ? [index] : [])));
  const apps = [...new Set(outcomes.flatMap(({ deliveries }) => deliveries.map(({ appName }) => appName)))];
  await Promise.all(
    apps.map(async (appName) => {
      const own = outcomes.map(({ deliveries }) => deliveries.filter((delivery) => delivery.appName === appName));
      const failure = await tryWork(async () => await enqueueDeliveries(own.flat(), deps));
      if (failure) own.forEach((deliveries, index) => void (deliveries.length > 0 && failed.add(index)));
    }),
  );
  const [first] = [...failed].sort((a, b) => a - b).map((index) => records[index]?.dynamodb?.SequenceNumber ?? '');
  return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
}

/** A purchase may have thousands of users, and the stream waits. */
const concurrency = 25;

interface RecordOutcome {
  readonly deliveries: readonly WebhookDelivery[];
  readonly failure?: ServiceError;
}

type FindApp = Deps['apps']['find'];

/** Asks for each application once, and never for settings as they were a while ago: a URL may have just been set. */
function memoizeFindApp(find: FindApp): FindApp {
  const asked = new Map<string, ReturnType<FindApp>>();
  return async (name) => {
    const result = asked.get(name) ?? find(name);
    asked.set(name, result);
    return await result;
  };
}

async function createDeliveries(record: DynamoDBRecord, find: FindApp, deps: Deps): Promise<RecordOutcome> {
  let deliveries: readonly WebhookDelivery[] = [];
  const failure = await tryWork(async () => {
    const announced = readStreamRecord(record);
    const app = announced && (await find(announced.appName));
    const newDeliveries = announced && app ? buildDeliveries(announced, app, deps.now()) : [];
    for (let first = 0; first < newDeliveries.length; first += concurrency) {
      await Promise.all(newDeliveries.slice(first, first + concurrency).map(deps.deliveries.createIfAbsent));
    }
    deliveries = newDeliveries;
  });
  return { deliveries, ...(failure && { failure }) };
}

async function tryWork(work: () => Promise<void>): Promise<ServiceError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    logError({ worker: 'fan-out-webhooks' }, failure);
    return failure;
  }
}

/** Sandbox purchases go to the sandbox URLs where there are any; the main URLs take everything else. */
export function selectWebhookUrls(
  { webhookSettings, deletedAt }: App,
  sandbox: boolean | undefined,
): readonly string[] {
  if (!webhookSettings || deletedAt !== undefined) return [];
  return sandbox && webhookSettings.sandboxUrls.length > 0 ? webhookSettings.sandboxUrls : webhookSettings.urls;
}

/** A delivery for each thing that is announced, each user and each URL. */
export function buildDeliveries(
  { appName, announcements, recipients, purchase }: PurchaseAnnouncements,
  settings: App,
  now: number,
): WebhookDelivery[] {
  const { sandbox, ...subject } = purchase;
  const notifications = announcements.map(({ id, reason, date }: Announcement) => ({ id, reason, date, ...subject }));
  return notifications.flatMap((notification) =>
    recipients.flatMap((username) =>
      selectWebhookUrls(settings, sandbox).map((url) =>
        buildDelivery({ appName, type: 'purchases.updated', url, username, notification, createdAt: now }),
      ),
    ),
  );
}

/** Puts new deliveries of one application on the queue, in its own group: a backlog of one delays no other. */
export async function enqueueDeliveries(deliveries: readonly WebhookDelivery[], { webhookQueue }: Deps): Promise<void> {
  const [first] = deliveries;
  if (!first) return;
  const messages = deliveries.map(({ appName, deliveryId, failedAttempts }) => ({
    appName,
    deliveryId,
    failedAttempts,
  }));
  await webhookQueue.send(messages, { group: first.appName });
}
