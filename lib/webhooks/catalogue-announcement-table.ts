import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { CatalogueAnnouncement } from './catalogue-announcement.ts';

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
