import pMap, { pMapSkip } from 'p-map';
import type { App } from '../apps/app.ts';
import { findApp } from '../apps/app-table.ts';
import { selectExistingCustomers } from '../customers/customer-table.ts';
import { memoize } from '../foundation/cache.ts';
import { isPermanent, type ServiceError } from '../foundation/errors.ts';
import { catchFailure } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import {
  computeFromRecord,
  describeRecord,
  reportStreamFailures,
  toStreamFailure,
} from '../foundation/stream-failure.ts';
import type { ItemChange, StreamRecord } from '../foundation/stream-record.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Announcement } from '../purchases/announcement.ts';
import { buildCreditDeliveries } from './credit-announcements.ts';
import type { WebhookDelivery } from './delivery.ts';
import { createDeliveryIfAbsent, findDelivery } from './delivery-table.ts';
import { buildGrantDeliveries } from './grant-announcements.ts';
import { type PurchaseAnnouncements, readStreamRecord } from './purchase-announcements.ts';
import { buildRefundDeliveries } from './refund-announcements.ts';
import { buildForUrls, type FindApp } from './select-webhook-urls.ts';

const worker = 'fan-out-webhooks';

/**
 * Creates and enqueues a delivery for each announcement, recipient and URL. Idempotent. Returns the sequence number of
 * the first record that failed, from which the stream must be read again; undefined if all records succeeded. Skips and
 * reports a record before it that no repetition can process.
 */
export async function fanOutDeliveries(
  service: Service,
  records: readonly StreamRecord[],
): Promise<string | undefined> {
  // Once per batch of records. Not from the app cache, because a webhook URL may have just been set.
  const findAppOnce = memoize(async (appName: string) => await findApp(service, appName));
  const outcomes = await Promise.all(
    records.map(async (record) => await createDeliveries(service, record, findAppOnce)),
  );
  const failedApps = await enqueueByApp(service, outcomes);
  const end = outcomes.findIndex(
    (outcome) => isToRepeat(outcome) || outcome.deliveries.some(({ appName }) => failedApps.has(appName)),
  );
  const skipped = outcomes.slice(0, end === -1 ? undefined : end).filter(isSkipped);
  const reportFailure = await catchFailure({ worker }, async () => {
    await reportStreamFailures(
      service,
      skipped.map(({ record, failure }) => toStreamFailure(worker, record, failure)),
    );
  });
  const first = reportFailure ? (skipped[0] ?? outcomes[end]) : outcomes[end];
  return first?.record.sequenceNumber;
}

/** Enqueues the deliveries of each app. Returns the apps whose deliveries could not be enqueued. */
async function enqueueByApp(service: Service, outcomes: readonly RecordOutcome[]): Promise<ReadonlySet<string>> {
  const deliveries = outcomes.flatMap((outcome) => outcome.deliveries);
  const appNames = [...new Set(deliveries.map(({ appName }) => appName))];
  const failedApps = new Set<string>();
  await Promise.all(
    appNames.map(async (app) => {
      const ownDeliveries = deliveries.filter(({ appName }) => appName === app);
      const failure = await catchFailure({ worker, app }, async () => await enqueueDeliveries(service, ownDeliveries));
      if (failure) failedApps.add(app);
    }),
  );
  return failedApps;
}

/** Number of deliveries of one record that are created concurrently: a purchase can have thousands of recipients. */
const concurrency = 25;

interface RecordOutcome {
  readonly record: StreamRecord;
  readonly deliveries: readonly WebhookDelivery[];
  readonly failure?: ServiceError;
}

type SkippedOutcome = RecordOutcome & { readonly failure: ServiceError };

/** No repetition can process the record. */
const isSkipped = (outcome: RecordOutcome): outcome is SkippedOutcome =>
  outcome.failure !== undefined && isPermanent(outcome.failure);

const isToRepeat = ({ failure }: RecordOutcome): boolean => failure !== undefined && !isPermanent(failure);

async function createDeliveries(service: Service, record: StreamRecord, findApp: FindApp): Promise<RecordOutcome> {
  let created: readonly WebhookDelivery[] = [];
  const failure = await catchFailure({ worker, ...describeRecord(record) }, async () => {
    const deliveries = await buildDeliveriesOfRecord(service, record, findApp);
    await pMap(deliveries, async (delivery) => await createDeliveryIfAbsent(service, delivery), { concurrency });
    created = deliveries;
  });
  return { record, deliveries: created, ...(failure && { failure }) };
}

/** Builds the deliveries of a change. */
export async function buildDeliveriesOfRecord(
  service: Service,
  record: ItemChange,
  findApp: FindApp,
): Promise<readonly WebhookDelivery[]> {
  if (record.kind === 'grant') return await buildGrantDeliveries(service, record, findApp);
  if (record.kind === 'refundRequest') return await buildRefundDeliveries(service, record, findApp);
  if (record.kind === 'creditEntry') return await buildCreditDeliveries(service, record, findApp);
  return await buildPurchaseDeliveries(service, record, findApp);
}

async function buildPurchaseDeliveries(
  service: Service,
  record: ItemChange,
  findApp: FindApp,
): Promise<readonly WebhookDelivery[]> {
  const announcements = computeFromRecord(() => readStreamRecord(record));
  const app = announcements && (await findApp(announcements.appName));
  return announcements && app
    ? buildDeliveries(await omitErasedRecipients(service, announcements), app, service.now())
    : [];
}

/**
 * Leaves out recipients without a customer item: the purchase change that made them a recipient has created it, so they
 * have been erased since.
 */
async function omitErasedRecipients(
  service: Service,
  announcements: PurchaseAnnouncements,
): Promise<PurchaseAnnouncements> {
  const { appName, recipients } = announcements;
  return { ...announcements, recipients: await selectExistingCustomers(service, appName, recipients) };
}

/** Builds a delivery for each announcement, recipient and URL. */
export function buildDeliveries(
  { announcements, recipients, purchase, previousProductId, eventId }: PurchaseAnnouncements,
  app: App,
  now: EpochMillis,
): WebhookDelivery[] {
  const { sandbox, ...purchaseIds } = purchase;
  const common = {
    type: 'purchases.updated',
    createdAt: now,
    ...omitUndefined({ eventId, previousProductId }),
  } as const;
  const notifications = announcements.map(({ id, reason, date }: Announcement) => ({
    id,
    reason,
    date,
    ...purchaseIds,
  }));
  return notifications.flatMap((notification) =>
    recipients.flatMap((username) => buildForUrls(app, sandbox, { ...common, username, notification })),
  );
}

interface EnqueueOptions {
  readonly delaySeconds?: number;
}

/**
 * Creates and enqueues the deliveries of one app that are missing, and enqueues those without an attempt again that
 * exist for at least `lostAfterMs`: their message may be lost. Safe if it is not: a second message for the same attempt
 * is ignored. Returns the number of enqueued deliveries.
 */
export async function enqueueMissing(
  service: Service,
  deliveries: readonly WebhookDelivery[],
  { lostAfterMs, ...options }: EnqueueOptions & { readonly lostAfterMs: number },
): Promise<number> {
  const isMissing = async (delivery: WebhookDelivery): Promise<boolean> => {
    if (await createDeliveryIfAbsent(service, delivery)) return true;
    const existing = await findDelivery(service, delivery.appName, delivery.deliveryId);
    const { state, failedAttempts, dueAt, createdAt } = existing ?? delivery;
    const isWaiting = state === 'pending' && failedAttempts === 0 && dueAt === undefined;
    return isWaiting && service.now() - createdAt >= lostAfterMs;
  };
  const missing = await pMap(deliveries, async (delivery) => ((await isMissing(delivery)) ? delivery : pMapSkip), {
    concurrency,
  });
  await enqueueDeliveries(service, missing, options);
  return missing.length;
}

/** Enqueues new deliveries of one app in the app's message group, so its backlog does not delay other apps. */
export async function enqueueDeliveries(
  { webhookQueue }: Service,
  deliveries: readonly WebhookDelivery[],
  options: EnqueueOptions = {},
): Promise<void> {
  const [first] = deliveries;
  if (!first) return;
  const messages = deliveries.map(({ appName, deliveryId, failedAttempts, eventId }) =>
    omitUndefined({ appName, deliveryId, failedAttempts, eventId }),
  );
  await webhookQueue.send(messages, { group: first.appName, ...options });
}
