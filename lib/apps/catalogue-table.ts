import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { tryWrite } from '../foundation/updates.ts';
import { cacheRead } from './app-table.ts';
import { Catalogue, toCatalogueTag } from './catalogue.ts';

/** Returns the catalogue of the app. Undefined if none was set. */
export async function findCatalogue({ table }: Service, appName: string): Promise<Catalogue | undefined> {
  const item = await table.get(keys.catalogueKey(appName));
  return item && parse(Catalogue, item.catalogue, 'DatabaseError');
}

/** Finds the catalogue fast enough for every request. An app without one has an empty catalogue. */
export const findCachedCatalogue = cacheRead(
  async (service, appName: string): Promise<Catalogue> => (await findCatalogue(service, appName)) ?? {},
);

/**
 * Replaces the catalogue of the app. Returns false, without a change, if the current one does not have the expected
 * tag.
 */
export async function storeCatalogue(
  { table }: Service,
  appName: string,
  catalogue: Catalogue,
  expectedTag?: string,
): Promise<boolean> {
  const Item = { ...keys.catalogueKey(appName), catalogue, tag: toCatalogueTag(catalogue) };
  // Without a catalogue, the tag is the one of an empty catalogue.
  const canBeAbsent = expectedTag === toCatalogueTag({});
  const condition = expectedTag !== undefined && {
    ConditionExpression: canBeAbsent ? 'tag = :tag OR attribute_not_exists(pk)' : 'tag = :tag',
    ExpressionAttributeValues: { ':tag': expectedTag },
  };
  return await tryWrite(async () => await table.transact([{ Put: { TableName: table.name, Item, ...condition } }]));
}
