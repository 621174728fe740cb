import * as keys from '../foundation/keys.ts';
import { type Platform, platforms } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { cacheRead } from './app-table.ts';

/** The context of the encryption. */
export const settingsContext = (appName: string, platform: Platform): string => `${appName}/store/${platform}`;

/** Returns the decrypted settings for a store. Undefined without them. */
export async function findStoreSettings(
  { table, cipher }: Service,
  appName: string,
  platform: Platform,
): Promise<unknown> {
  const item = await table.get(keys.storeSettingsKey(appName, platform));
  return item && JSON.parse(await cipher.decrypt(String(item.settings), settingsContext(appName, platform)));
}

/** Finds the settings fast enough for every request. Missing settings are not cached. */
export const findCachedSettings = cacheRead<[appName: string, platform: Platform], unknown>(findStoreSettings);

/** Lists the platforms for which the app has settings. Does not decrypt them. */
export async function listConnectedPlatforms({ table }: Service, appName: string): Promise<Platform[]> {
  const { pk, sk } = keys.storeSettingsKey(appName, '');
  const items = await table.query({ partition: pk, prefix: sk });
  return platforms.filter((platform) => items.some((item) => item.sk === `${sk}${platform}`));
}

export async function setStoreSettings(
  { cipher, table }: Service,
  appName: string,
  platform: Platform,
  settings: unknown,
): Promise<void> {
  const encrypted = await cipher.encrypt(JSON.stringify(settings), settingsContext(appName, platform));
  const Item = { ...keys.storeSettingsKey(appName, platform), settings: encrypted };
  // Not a batch: its permission would allow deletions, too.
  await table.transact([{ Put: { TableName: table.name, Item } }]);
}
