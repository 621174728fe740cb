import { App } from '../apps/app.ts';
import type { Cipher } from '../apps/cipher.ts';
import { parse } from '../parse.ts';
import type { Platform } from '../purchases/platform.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Applications and their settings for the stores. */
export interface Apps {
  find(name: string): Promise<App | undefined>;
  list(): Promise<App[]>;
  /** Throws `Conflict` when an application of that name exists. */
  create(app: App, secretKey: string): Promise<void>;
  /** Replaces the application, and its encrypted secret key when one is given. */
  replace(app: App, secretKey?: string): Promise<void>;
  /** The settings for a store, decrypted, or undefined when none are set. */
  storeSettings(app: string, platform: Platform): Promise<unknown>;
  setStoreSettings(app: string, platform: Platform, settings: unknown): Promise<void>;
}

export function appsOf(table: Table, cipher: Cipher): Apps {
  const settingsContext = (app: string, platform: Platform) => `${app}/store/${platform}`;
  return {
    async find(name) {
      const item = await table.get(keys.appKey(name));
      return item && parse(App, item, 'DatabaseError');
    },
    async list() {
      const items = await table.query({ partition: keys.appsPartition, index: 'byCreated' });
      const apps = await table.batchGet(items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
      return apps.map((item) => parse(App, item, 'DatabaseError'));
    },
    async create(app, secretKey) {
      const Item = await appItem(cipher, app, secretKey);
      await table.transact([{ Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } }]);
    },
    async replace(app, secretKey) {
      const before = await table.get(keys.appKey(app.name));
      const Item = secretKey ? await appItem(cipher, app, secretKey) : { ...before, ...app };
      await table.transact([{ Put: { TableName: table.name, Item, ConditionExpression: 'attribute_exists(pk)' } }]);
    },
    async storeSettings(app, platform) {
      const item = await table.get(keys.storeSettingsKey(app, platform));
      return item && JSON.parse(await cipher.decrypt(String(item.settings), settingsContext(app, platform)));
    },
    async setStoreSettings(app, platform, settings) {
      const sealed = await cipher.encrypt(JSON.stringify(settings), settingsContext(app, platform));
      await table.batchPut([{ ...keys.storeSettingsKey(app, platform), settings: sealed }]);
    },
  };
}

/** The secret key goes into webhooks, so it is kept, encrypted; for checking credentials there is only its digest. */
async function appItem(cipher: Cipher, app: App, secretKey: string) {
  return {
    ...keys.appKey(app.name),
    ...keys.appIndexKeys(app.name),
    ...app,
    secretKey: await cipher.encrypt(secretKey, `${app.name}/secret-key`),
  };
}
