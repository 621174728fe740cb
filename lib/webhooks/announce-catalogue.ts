import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app.ts';
import { Catalogue, toCatalogueTag } from '../apps/catalogue.ts';
import { findCatalogue } from '../apps/catalogue-table.ts';
import { getApp, saveCatalogue } from '../apps/manage-apps.ts';
import { type EntitlementChange, findEntitlementChanges } from '../entitlements/preview-catalogue.ts';
import { splitIntoChunks } from '../foundation/batches.ts';
import { toShortDigest } from '../foundation/key.ts';
import { parse } from '../foundation/parse.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import {
  type CatalogueAnnouncement,
  deleteCatalogueAnnouncement,
  findCatalogueAnnouncement,
  saveCatalogueAnnouncement,
} from './catalogue-announcement-table.ts';
import type { WebhookDelivery } from './delivery.ts';
import { enqueueMissing } from './fan-out.ts';
import { buildForUrls, missingWebhookUrlError, selectWebhookUrls } from './select-webhook-urls.ts';

interface AnnounceOptions {
  readonly wait: (ms: number) => Promise<void>;
  /** Maximum number of webhooks that are enqueued in a second. */
  readonly rate: number;
  readonly reportProgress?: ReportProgress;
}

interface AnnounceResult {
  readonly products: number;
  /** Number of customers who gain or lose an entitlement. */
  readonly customers: number;
  /** Number of webhooks that this call has enqueued. */
  readonly webhooks: number;
}

/** Delay of the webhooks, which contain the entitlements. Caches of the catalogue have a TTL of 15 s. */
const delaySeconds = 20;

/**
 * Replaces the catalogue and enqueues a webhook for each customer who gains or loses an entitlement by it. The former
 * catalogue is stored until all are enqueued. A repeated call with the same catalogue continues, and a call with
 * another one first completes the announcement. No webhook is sent twice. Throws `InvalidPayload` for an app without a
 * webhook URL.
 */
export async function setAnnouncedCatalogue(
  service: Service,
  name: string,
  catalogue: unknown,
  options: AnnounceOptions,
): Promise<AnnounceResult> {
  const after = parse(Catalogue, catalogue);
  const app = await getApp(service, name);
  if (selectWebhookUrls(app, false).length === 0) throw missingWebhookUrlError();
  const before = (await findCatalogue(service, name)) ?? {};
  const pending = await findCatalogueAnnouncement(service, name);
  const isContinued = toCatalogueTag(before) === toCatalogueTag(after);
  const completed = pending && (await announce(service, app, { announcement: pending, after: before, options }));
  const products = Object.keys(after).length;
  if (isContinued) return { products, customers: 0, webhooks: 0, ...completed };
  const announcement = { announcementId: randomUUID(), before, startedAt: service.now() };
  await saveCatalogueAnnouncement(service, name, announcement);
  await saveCatalogue(service, name, after, toCatalogueTag(before));
  const announced = await announce(service, app, { announcement, after, options });
  return { products, ...announced, webhooks: announced.webhooks + (completed?.webhooks ?? 0) };
}

interface AnnouncedChange {
  readonly announcement: CatalogueAnnouncement;
  readonly after: Catalogue;
  readonly options: AnnounceOptions;
}

/** Enqueues the webhooks of a change of the catalogue, then deletes the former catalogue. */
async function announce(
  service: Service,
  app: App,
  { announcement, after, options: { wait, rate, reportProgress } }: AnnouncedChange,
): Promise<Pick<AnnounceResult, 'customers' | 'webhooks'>> {
  const { before } = announcement;
  const { changes } = await findEntitlementChanges(service, app, { before, after });
  const deliveries = changes.flatMap((change) => buildCatalogueDeliveries(app, change, announcement));
  let webhooks = 0;
  for (const batch of splitIntoChunks(deliveries, rate)) {
    if (webhooks > 0) await wait(secondMs);
    // An interrupted call can have created any of them without a message.
    webhooks += await enqueueMissing(service, batch, { lostAfterMs: 0, delaySeconds });
    reportProgress?.(webhooks);
  }
  await deleteCatalogueAnnouncement(service, app.name);
  return { customers: changes.length, webhooks };
}

/** Builds a webhook for each URL. The specification lacks a reason for a change of the catalogue. */
function buildCatalogueDeliveries(
  app: App,
  { applicationUsername: username, gains, loses }: EntitlementChange,
  { announcementId, startedAt }: CatalogueAnnouncement,
): WebhookDelivery[] {
  const id = toShortDigest(JSON.stringify([app.name, announcementId, username]));
  const notification = { id, reason: 'OTHER', date: startedAt } as const;
  return buildForUrls(app, false, {
    type: 'purchases.updated',
    username,
    notification,
    changedEntitlements: [...gains, ...loses].sort(),
    createdAt: startedAt,
  });
}
