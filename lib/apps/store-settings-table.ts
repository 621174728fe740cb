import * as keys from '../foundation/keys.ts';
import { type Platform, platforms } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Write } from '../foundation/table.ts';
import { retryUntilWritten, tryWrite } from '../foundation/updates.ts';
import { cacheRead } from './app-table.ts';

/** The context of the encryption. */
export const settingsContext = (appName: string, platform: Platform): string => `${appName}/store/${platform}`;

/** Returns the decrypted settings for a store. Undefined without them. */
export async function findStoreSettings(service: Service, appName: string, platform: Platform): Promise<unknown> {
  const item = await service.table.get(keys.storeSettingsKey(appName, platform));
  return item && (await decryptSettings(service, appName, platform, item));
}

async function decryptSettings(
  { cipher }: Service,
  appName: string,
  platform: Platform,
  { settings }: Item,
): Promise<unknown> {
  return JSON.parse(await cipher.decrypt(String(settings), settingsContext(appName, platform)));
}

/** Finds the settings fast enough for every request. Missing settings are not cached. */
export const findCachedSettings = cacheRead<[appName: string, platform: Platform], unknown>(findStoreSettings);

/** Lists the platforms for which the app has settings. Does not decrypt them. */
export async function listConnectedPlatforms({ table }: Service, appName: string): Promise<Platform[]> {
  const { pk, sk } = keys.storeSettingsKey(appName, '');
  const items = await table.query({ partition: pk, prefix: sk });
  return platforms.filter((platform) => items.some((item) => item.sk === `${sk}${platform}`));
}

/**
 * Stores the settings that `change` returns for the stored ones. Calls it again if another writer has changed them
 * since.
 */
export async function changeStoreSettings<T extends { readonly settings: unknown }>(
  service: Service,
  appName: string,
  platform: Platform,
  change: (stored: unknown) => Promise<T>,
): Promise<T> {
  return await retryUntilWritten(async () => {
    const item = await service.table.get(keys.storeSettingsKey(appName, platform));
    const result = await change(item && (await decryptSettings(service, appName, platform, item)));
    const isUnchanged = item
      ? { ConditionExpression: 'settings = :read', ExpressionAttributeValues: { ':read': item.settings } }
      : { ConditionExpression: 'attribute_not_exists(pk)' };
    const write = async () => await setStoreSettings(service, appName, platform, result.settings, isUnchanged);
    return (await tryWrite(write)) ? result : undefined;
  });
}

export async function setStoreSettings(
  { cipher, table }: Service,
  appName: string,
  platform: Platform,
  settings: unknown,
  condition: Pick<NonNullable<Write['Put']>, 'ConditionExpression' | 'ExpressionAttributeValues'> = {},
): Promise<void> {
  const encrypted = await cipher.encrypt(JSON.stringify(settings), settingsContext(appName, platform));
  const Item = { ...keys.storeSettingsKey(appName, platform), settings: encrypted };
  // Not a batch: its permission would allow deletions, too.
  await table.transact([{ Put: { TableName: table.name, Item, ...condition } }]);
}
