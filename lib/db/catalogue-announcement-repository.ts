import { parse } from '../shared/parse.ts';
import { CatalogueAnnouncement, type CatalogueAnnouncementRepository } from '../webhooks/catalogue-announcement.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

export const createCatalogueAnnouncementRepository = (table: Table): CatalogueAnnouncementRepository => ({
  async find(appName) {
    const item = await table.get(keys.catalogueAnnouncementKey(appName));
    return item && parse(CatalogueAnnouncement, item, 'DatabaseError');
  },
  save: async (appName, announcement) =>
    await table.batchPut([{ ...keys.catalogueAnnouncementKey(appName), ...announcement }]),
  delete: async (appName) => await table.batchDelete([keys.catalogueAnnouncementKey(appName)]),
});
