import type { Catalogue } from '../purchases/catalogue.ts';
import type { Platform } from '../shared/platform.ts';
import type { App, WebhookSender, WebhookSettings } from './app.ts';
import type { Forward } from './forward.ts';

/** A change of an app. */
interface AppChange {
  /** The members to set. */
  readonly members: Partial<Omit<App, 'name'>>;
  /** The new main secret key, which webhooks contain. */
  readonly secretKey?: string;
}

/** The apps and their settings for the stores. */
export interface AppRepository {
  find(name: string): Promise<App | undefined>;
  list(): Promise<App[]>;
  /** Returns the name of the app that has issued the key with this digest. The key can be expired or revoked. */
  findKeyOwner(digest: string): Promise<string | undefined>;
  /** Throws `Conflict` if an app with that name exists. */
  create(app: App, secretKey: string): Promise<void>;
  /**
   * Sets the members that `change` returns for the stored app, and returns the app with them. Calls `change` again if
   * another writer, of any release, has changed one of these members since. Throws `AppNotFound`, also for a deleted
   * app, and the errors of `change`.
   */
  update(name: string, change: (app: App) => AppChange | Promise<AppChange>): Promise<App>;
  /**
   * Replaces the webhook settings, and the signing secret if `createSecret` returns one. Settings without `events` keep
   * the stored ones. Returns the new secret. Throws `AppNotFound`, also for a deleted app.
   */
  setWebhook(
    name: string,
    webhookSettings: WebhookSettings,
    createSecret: (hasSecret: boolean) => string | undefined,
  ): Promise<string | undefined>;
  /** Returns the app with the decrypted secrets of its webhooks. */
  findWebhookSender(name: string): Promise<WebhookSender | undefined>;
  /** Returns the decrypted settings for a store. Undefined if there are none. */
  findStoreSettings(appName: string, platform: Platform): Promise<unknown>;
  /** Lists the platforms for which the app has settings. Does not decrypt them. */
  listConnectedPlatforms(appName: string): Promise<Platform[]>;
  setStoreSettings(appName: string, platform: Platform, settings: unknown): Promise<void>;
  /** Returns the catalogue of the app. Undefined if none was set. */
  findCatalogue(appName: string): Promise<Catalogue | undefined>;
  /**
   * Replaces the catalogue of the app. Returns false, without a change, if the current one does not have the expected
   * tag.
   */
  setCatalogue(appName: string, catalogue: Catalogue, expectedTag?: string): Promise<boolean>;
  /** Returns the forwards of store notifications. Undefined if none were set. */
  findForwards(appName: string): Promise<readonly Forward[] | undefined>;
  /** Replaces the forwards of store notifications. */
  setForwards(appName: string, forwards: readonly Forward[]): Promise<void>;
  /**
   * Returns the encrypted erasure key of the app. Creates it at the first call. Throws `Conflict` if the app does not
   * exist.
   */
  getOrCreateErasureKey(name: string): Promise<string>;
  /** Encrypts the app's stale secrets under the current master key. Returns the number of stale secrets. */
  reencryptSecrets(name: string): Promise<number>;
}
