import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { parse } from '../shared/parse.ts';
import { CatalogueAnnouncement, type CatalogueAnnouncementRepository } from '../webhooks/catalogue-announcement.ts';

export const createCatalogueAnnouncementRepository = (table: Table): CatalogueAnnouncementRepository => ({
  async find(appName) {
    const item = await table.get(keys.catalogueAnnouncementKey(appName));
    return item && parse(CatalogueAnnouncement, item, 'DatabaseError');
  },
  save: async (appName, announcement) =>
    await table.batchPut([{ ...keys.catalogueAnnouncementKey(appName), ...announcement }]),
  delete: async (appName) => await table.batchDelete([keys.catalogueAnnouncementKey(appName)]),
});
