import * as v from 'valibot';
import { Catalogue } from '../apps/catalogue.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';

export async function findCatalogueAnnouncement(
  { table }: Service,
  appName: string,
): Promise<CatalogueAnnouncement | undefined> {
  const item = await table.get(keys.catalogueAnnouncementKey(appName));
  return item && parse(CatalogueAnnouncement, item, 'DatabaseError');
}

export async function saveCatalogueAnnouncement(
  { table }: Service,
  appName: string,
  announcement: CatalogueAnnouncement,
): Promise<void> {
  return await table.batchPut([{ ...keys.catalogueAnnouncementKey(appName), ...announcement }]);
}

export async function deleteCatalogueAnnouncement({ table }: Service, appName: string): Promise<void> {
  return await table.batchDelete([keys.catalogueAnnouncementKey(appName)]);
}

/** A change of the catalogue whose webhooks are not all enqueued. Date in epoch milliseconds. */
export const CatalogueAnnouncement = v.object({
  announcementId: v.string(),
  /** The catalogue before the change. */
  before: Catalogue,
  startedAt: v.number(),
});
export type CatalogueAnnouncement = v.InferOutput<typeof CatalogueAnnouncement>;
