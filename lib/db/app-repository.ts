import { App, type WebhookSettings } from '../apps/app.ts';
import type { Cipher } from '../shared/cipher.ts';
import { parse } from '../shared/parse.ts';
import { type Platform, platforms } from '../shared/platform.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import { reencryptField } from './reencrypt-field.ts';
import type { Table } from './table.ts';

/** Applications and their settings for the stores. */
export interface AppRepository {
  find(name: string): Promise<App | undefined>;
  list(): Promise<App[]>;
  /** Throws `Conflict` when an application of that name exists. */
  create(app: App, secretKey: string): Promise<void>;
  /** Replaces the application, and its encrypted secret key when one is given. */
  update(app: App, secretKey?: string): Promise<void>;
  /** Sets where webhooks go, and the secret that signs them when one is given. */
  setWebhook(name: string, webhookSettings: WebhookSettings, signingSecret?: string): Promise<void>;
  /** The application with what its webhooks carry, decrypted. */
  findWebhookSender(name: string): Promise<WebhookSender | undefined>;
  /** The settings for a store, decrypted, or undefined when none are set. */
  findStoreSettings(appName: string, platform: Platform): Promise<unknown>;
  setStoreSettings(appName: string, platform: Platform, settings: unknown): Promise<void>;
  /** Seals the application's keys and settings under the first master key; how many were under another. */
  reencryptSecrets(name: string): Promise<number>;
}

/** An application as the sender of its webhooks. */
export interface WebhookSender {
  readonly app: App;
  readonly secretKey: string;
  /** Absent until webhooks are set. */
  readonly signingSecret?: string;
}

export function createAppRepository(table: Table, cipher: Cipher): AppRepository {
  const settingsContext = (appName: string, platform: Platform) => `${appName}/store/${platform}`;
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
      const Item = await buildAppItem(cipher, app, secretKey);
      await table.transact([{ Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } }]);
    },
    async update(app, secretKey) {
      const before = await table.get(keys.appKey(app.name));
      const sealed = secretKey && (await buildAppItem(cipher, app, secretKey));
      const Item = { ...before, ...app, ...sealed };
      await table.transact([{ Put: { TableName: table.name, Item, ConditionExpression: 'attribute_exists(pk)' } }]);
    },
    async setWebhook(name, webhookSettings, signingSecret) {
      const sealed = signingSecret && (await cipher.encrypt(signingSecret, signingSecretContext(name)));
      const fields = { webhookSettings, ...(sealed && { signingSecret: sealed }) };
      await table.update(buildUpdate(keys.appKey(name), fields, { expression: 'attribute_exists(pk)' }));
    },
    async findWebhookSender(name) {
      const item = await table.get(keys.appKey(name));
      if (!item) return undefined;
      const { secretKey, signingSecret } = item;
      return {
        app: parse(App, item, 'DatabaseError'),
        secretKey: await cipher.decrypt(String(secretKey), secretKeyContext(name)),
        ...(typeof signingSecret === 'string' && {
          signingSecret: await cipher.decrypt(signingSecret, signingSecretContext(name)),
        }),
      };
    },
    async findStoreSettings(appName, platform) {
      const item = await table.get(keys.storeSettingsKey(appName, platform));
      return item && JSON.parse(await cipher.decrypt(String(item.settings), settingsContext(appName, platform)));
    },
    async setStoreSettings(appName, platform, settings) {
      const sealed = await cipher.encrypt(JSON.stringify(settings), settingsContext(appName, platform));
      await table.batchPut([{ ...keys.storeSettingsKey(appName, platform), settings: sealed }]);
    },
    async reencryptSecrets(name) {
      const item = (await table.get(keys.appKey(name))) ?? {};
      const settings = platforms.map(async (platform) => ({
        item: (await table.get(keys.storeSettingsKey(name, platform))) ?? {},
        field: 'settings',
        context: settingsContext(name, platform),
      }));
      const fields = [
        { item, field: 'secretKey', context: secretKeyContext(name) },
        { item, field: 'signingSecret', context: signingSecretContext(name) },
        ...(await Promise.all(settings)),
      ];
      const resealed = await Promise.all(fields.map((field) => reencryptField(table, cipher, field)));
      return resealed.filter(Boolean).length;
    },
  };
}

const secretKeyContext = (appName: string): string => `${appName}/secret-key`;
const signingSecretContext = (appName: string): string => `${appName}/signing-secret`;

/** The secret key goes into webhooks, so it is kept, encrypted; for checking credentials there is only its digest. */
async function buildAppItem(cipher: Cipher, app: App, secretKey: string) {
  return {
    ...keys.appKey(app.name),
    ...keys.appIndexKeys(app.name),
    ...app,
    secretKey: await cipher.encrypt(secretKey, secretKeyContext(app.name)),
  };
}
