import type { App } from '../apps/app.ts';
import { getApp } from '../apps/manage-apps.ts';
import type { Item } from '../db/table.ts';
import type { Deps } from '../deps.ts';
import { getEntitledSince } from '../purchases/claims.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import { dayMs } from '../shared/time.ts';
import { deliveryRetentionMs, type WebhookDelivery } from './delivery.ts';
import { buildDeliveries, enqueueDeliveries, selectWebhookUrls } from './fan-out.ts';
import { type PurchaseAnnouncements, readPurchaseItem } from './purchase-announcements.ts';

/** The moments whose changes are announced: the first included, the last excluded. */
interface TimeRange {
  readonly from: EpochMillis;
  readonly to: EpochMillis;
}

/** Webhooks that a range should have had, and those of them that had been given up. */
interface BackfillResult {
  readonly expected: number;
  readonly created: number;
}

/** Of changes before this a delivery may have been forgotten, and would be made anew. */
const maxLookbackMs = deliveryRetentionMs - dayMs;
/** Purchases, or deliveries, that are worked on at the same time. */
const concurrency = 25;
/** A delivery that is this old and was never tried may have no message any more; a second one is dropped. */
const staleAfterMs = 15 * 60_000;

/**
 * Announces what the stream's worker has given up: makes the deliveries of a range that do not exist and sends them. They
 * have the ids that the worker would have given them, so that what it has announced stays as it is. Throws
 * `InvalidPayload` for a range that reaches further back than deliveries are remembered.
 */
export async function backfillDeliveries(name: string, range: TimeRange, deps: Deps): Promise<BackfillResult> {
  const app = await getApp(deps.apps, name);
  validateRange(app, range, deps.now());
  let [webhooks, missing] = [0, 0];
  for await (const items of deps.pagedLists.scanPurchasesUpdatedSince(app.name, range.from)) {
    const announced = await mapInBatches(items, async (item) => await findAnnouncements(item, { app, range, deps }));
    const deliveries = announced.flat().flatMap((one) => buildDeliveries(one, app, deps.now()));
    const newDeliveries = await mapInBatches(deliveries, async (delivery) =>
      (await createIfMissing(delivery, deps)) ? [delivery] : [],
    );
    await enqueueDeliveries(newDeliveries.flat(), deps);
    webhooks += deliveries.length;
    missing += newDeliveries.flat().length;
  }
  return { expected: webhooks, created: missing };
}

function validateRange(app: App, { from, to }: TimeRange, now: EpochMillis): void {
  if (selectWebhookUrls(app, false).length === 0)
    throw new ServiceError('InvalidPayload', `${app.name} has set no webhook URL.`);
  if (from >= to) throw new ServiceError('InvalidPayload', 'The range ends before it begins.');
  if (from < now - maxLookbackMs)
    throw new ServiceError(
      'InvalidPayload',
      'At most 29 days back: deliveries are kept for 30 days, and what was delivered before would be sent again.',
    );
}

/**
 * What of a purchase falls into the range: the news of its present version, and of those before it what is kept with it,
 * the events of its life. Each for the users of now who were entitled then.
 */
async function findAnnouncements(
  item: Item,
  { app, range, deps }: { app: App; range: TimeRange; deps: Deps },
): Promise<PurchaseAnnouncements[]> {
  const { announcements, recipients, purchase } = readPurchaseItem(item);
  const [kept, claims] = await Promise.all([
    deps.purchases.listNotifications(app.name, purchase.purchaseId),
    deps.purchases.listClaims(app.name, purchase.purchaseId),
  ]);
  const since = new Map(claims.map((claim) => [claim.username, getEntitledSince(claim, app.strategy)]));
  const byId = new Map([...kept, ...announcements].map((announcement) => [announcement.id, announcement]));
  return [...byId.values()]
    .filter(({ date }) => date >= range.from && date < range.to)
    .map((announcement) => ({
      appName: app.name,
      announcements: [announcement],
      recipients: recipients.filter((username) => (since.get(username) ?? 0) <= announcement.date),
      purchase,
    }));
}

/** Makes the delivery; false when it exists and is seen to. */
async function createIfMissing(delivery: WebhookDelivery, { deliveries, now }: Deps): Promise<boolean> {
  if (await deliveries.createIfAbsent(delivery)) return true;
  const present = await deliveries.find(delivery.appName, delivery.deliveryId);
  const { state, failedAttempts, dueAt, createdAt } = present ?? delivery;
  return state === 'pending' && failedAttempts === 0 && dueAt === undefined && now() - createdAt >= staleAfterMs;
}

async function mapInBatches<T, R>(values: readonly T[], run: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < values.length; start += concurrency) {
    results.push(...(await Promise.all(values.slice(start, start + concurrency).map(run))));
  }
  return results;
}
