import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { findApp } from '../apps/app-table.ts';
import { getApp } from '../apps/manage-apps.ts';
import { settleCredits } from '../credits/settle-credits.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import type { ItemImage, StoredItem } from '../foundation/stream-record.ts';
import { dayMs, type EpochMillis, minuteMs } from '../foundation/time.ts';
import { scanPurchasesUpdatedSince } from '../lists/list-tables.ts';
import { buildAnnouncements } from '../purchases/announcement.ts';
import { getEntitledSince } from '../purchases/claims.ts';
import { listAnnouncements, listClaims } from '../purchases/purchase-table.ts';
import { deliveryRetentionMs } from './delivery.ts';
import { buildDeliveries, buildDeliveriesOfRecord, enqueueMissing } from './fan-out.ts';
import { type PurchaseAnnouncements, readPurchaseItem } from './purchase-announcements.ts';
import { missingWebhookUrlError, selectWebhookUrls } from './select-webhook-urls.ts';

/** Times of the changes to announce: `from` included, `to` excluded. */
interface TimeRange {
  readonly from: EpochMillis;
  readonly to: EpochMillis;
}

interface BackfillResult {
  /** Number of deliveries that belong to the range. */
  readonly expected: number;
  /** Number of deliveries that were missing and are now enqueued. */
  readonly created: number;
}

/** One day less than the retention of deliveries: an expired delivery would be created and sent again. */
const maxLookbackMs = deliveryRetentionMs - dayMs;

/** Number of purchases, or deliveries, that are processed concurrently. */
const concurrency = 25;

/** Age at which the queue message of a delivery without an attempt may be lost. */
const lostAfterMs = 15 * minuteMs;

/**
 * Does what the fan-out worker failed to do for the purchases that changed since the start of a range: settles their
 * credits, and creates and enqueues the deliveries of the range. Idempotent: uses the worker's delivery ids, so
 * existing deliveries are not sent again. Throws `InvalidPayload` for a range outside the retention.
 */
export async function backfillDeliveries(
  service: Service,
  name: string,
  range: TimeRange,
  reportProgress?: ReportProgress,
): Promise<BackfillResult> {
  const app = await getApp(service, name);
  validateRange(app, range, service.now());
  let expected = 0;
  let created = 0;
  let checkedPurchases = 0;
  for await (const items of scanPurchasesUpdatedSince(service, app.name, range.from)) {
    const result = await backfillPurchases(service, items, { app, range });
    expected += result.expected;
    created += result.created;
    checkedPurchases += items.length;
    reportProgress?.(checkedPurchases);
  }
  return { expected, created };
}

/**
 * Does what the fan-out worker failed to do for one item, from its current state. `range` selects the announcements of
 * a purchase. Without a webhook URL, only settles credits.
 */
export async function backfillItem(
  service: Service,
  appName: string,
  { kind, item, range }: StoredItem & { readonly range: TimeRange },
): Promise<void> {
  if (kind === 'purchase') {
    const app = await getApp(service, appName);
    const from = Math.max(range.from, service.now() - maxLookbackMs);
    await backfillPurchases(service, [item], { app, range: { ...range, from } });
    return;
  }
  const record = { appName, kind, after: item };
  const deliveries = await buildDeliveriesOfRecord(service, record, async (name) => findApp(service, name));
  await enqueueMissing(service, deliveries, { lostAfterMs });
}

async function backfillPurchases(
  service: Service,
  items: readonly ItemImage[],
  { app, range }: { readonly app: App; readonly range: TimeRange },
): Promise<BackfillResult> {
  const giving = items.filter(({ givesCredits }) => givesCredits === true);
  await pMap(
    giving,
    async (item) => {
      const { purchaseId } = readPurchaseItem(app.name, item).purchase;
      await settleCredits(service, app.name, { purchaseId });
    },
    { concurrency },
  );
  const announcements = await pMap(items, async (item) => await findAnnouncements(service, item, { app, range }), {
    concurrency,
  });
  const deliveries = announcements.flat().flatMap((purchase) => buildDeliveries(purchase, app, service.now()));
  return { expected: deliveries.length, created: await enqueueMissing(service, deliveries, { lostAfterMs }) };
}

function validateRange(app: App, { from, to }: TimeRange, now: EpochMillis): void {
  if (selectWebhookUrls(app, false).length === 0) throw missingWebhookUrlError();
  if (from >= to) throw new ServiceError('InvalidPayload', 'The start of the range must be before its end.');
  if (from < now - maxLookbackMs)
    throw new ServiceError(
      'InvalidPayload',
      'The start of the range must be at most 29 days ago: deliveries are retained for 30 days.',
    );
}

/**
 * Finds the announcements of a purchase in the range. The stored lifecycle notifications, and the version with the
 * first owner, cover the former versions of the purchase. Notifications before that owner lacked a recipient. The
 * recipients are the current users who were already entitled at the time of the announcement.
 */
async function findAnnouncements(
  service: Service,
  item: ItemImage,
  { app, range }: { app: App; range: TimeRange },
): Promise<PurchaseAnnouncements[]> {
  const { announcements, announcedUsers, firstOwnerVersion, recipients, purchase, eventId } = readPurchaseItem(
    app.name,
    item,
  );
  const { purchaseId } = purchase;
  const currentIds = new Set(announcements.map(({ id }) => id));
  const [storedNotifications, claims] = await Promise.all([
    listAnnouncements(service, app.name, purchaseId),
    listClaims(service, app.name, purchaseId),
  ]);
  const entitledSince = new Map(claims.map((claim) => [claim.username, getEntitledSince(claim, app.strategy)]));
  const former = firstOwnerVersion
    ? [
        ...buildAnnouncements({ appName: app.name, purchaseId, ...firstOwnerVersion }, ['PURCHASED']),
        ...storedNotifications.filter(({ date }) => date >= firstOwnerVersion.updatedAt),
      ]
    : storedNotifications;
  const byId = new Map([...former, ...announcements].map((announcement) => [announcement.id, announcement]));
  return [...byId.values()]
    .filter(({ date }) => date >= range.from && date < range.to)
    .map((announcement) => ({
      appName: app.name,
      announcements: [announcement],
      recipients: recipients.filter(
        (username) =>
          (entitledSince.get(username) ?? 0) <= announcement.date &&
          (!announcedUsers || !currentIds.has(announcement.id) || announcedUsers.includes(username)),
      ),
      purchase,
      // The item has the event of its current version only.
      ...(currentIds.has(announcement.id) && omitUndefined({ eventId })),
    }));
}
