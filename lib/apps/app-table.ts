import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Cache, createCache } from '../foundation/cache.ts';
import type { Cipher } from '../foundation/cipher.ts';
import { ServiceError } from '../foundation/errors.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { Item, Table, Write } from '../foundation/table.ts';
import { secondMs } from '../foundation/time.ts';
import { buildUpdate, retryUntilWritten, tryUpdate, tryWrite } from '../foundation/updates.ts';
import { App, AppName, keysMembers, type WebhookSender, type WebhookSettings } from './app.ts';

/** Maximum delay until a revoked key or a changed setting takes effect. */
const cachedReadMs = 15 * secondMs;

/** Maximum number of results of one read in memory. */
const maxCachedReads = 1_000;

/** Maximum delay until a new key takes effect. A flood of wrong keys reads the app once in this time. */
export const newKeyDelayMs = secondMs;

/**
 * Unknown names are cached too: otherwise the time of a response reveals whether an app exists. They have their own
 * cache, so that guessed names do not displace apps.
 */
const caches = perContainer(() => ({
  apps: createCache<App>(maxCachedReads),
  unknownNames: createCache<true>(maxCachedReads),
  recentReads: createCache<true>(maxCachedReads),
}));

/** A change of an app. */
interface AppChange {
  /** The members to set. */
  readonly members: Partial<Omit<App, 'name'>>;
  /** The new main secret key, which webhooks contain. */
  readonly secretKey?: string;
}

export async function findApp({ table }: Service, name: string): Promise<App | undefined> {
  const item = await table.get(keys.appKey(name));
  return item && parse(App, item, 'DatabaseError');
}

/** Returns the name of the app that has issued the key with this digest. The key can be expired or revoked. */
async function findKeyOwner({ table }: Service, digest: string): Promise<string | undefined> {
  const item = await table.get(keys.keyOwnerKey(digest));
  return item && parse(KeyOwnerItem, item, 'DatabaseError').appName;
}

export const findCachedKeyOwner = cacheRead(findKeyOwner);

/** Finds the app fast enough for every request. */
export async function findCachedApp(service: Service, name: string): Promise<App | undefined> {
  const { apps, unknownNames, recentReads } = caches(service);
  const time = service.now();
  if (!v.is(AppName, name) || unknownNames.get(name, time)) return undefined;
  const app = await getOrLoad(service, apps, name, async () => {
    recentReads.set(name, true, { now: time, usableUntil: time + newKeyDelayMs });
    return await findApp(service, name);
  });
  if (!app) unknownNames.set(name, true, { now: time, usableUntil: time + cachedReadMs });
  return app;
}

/** Finds the app as it was at most a second ago, for a key that the cached app does not have: it can be a new key. */
export async function findRecentApp(service: Service, name: string): Promise<App | undefined> {
  const { apps, unknownNames, recentReads } = caches(service);
  if (recentReads.get(name, service.now()) === undefined) {
    apps.delete(name);
    unknownNames.delete(name);
  }
  return await findCachedApp(service, name);
}

/**
 * Caches a read in each container, for every request. A failure and an undefined result are not cached. The names are
 * the parameters of the read, which lack `#`, except for the last one.
 */
// @__NO_SIDE_EFFECTS__
export function cacheRead<Names extends readonly string[], T>(
  load: (service: Service, ...names: Names) => Promise<T | undefined>,
): (service: Service, ...names: Names) => Promise<T | undefined> {
  const caches = perContainer(() => createCache<T>(maxCachedReads));
  return async (service, ...names) =>
    await getOrLoad(service, caches(service), names.join('#'), () => load(service, ...names));
}

/**
 * Returns the cached value, or loads it. The lifetime starts with the read: a value can be out of date when a slow read
 * ends.
 */
async function getOrLoad<T>(
  { now }: Service,
  cache: Cache<T>,
  key: string,
  load: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const time = now();
  const cached = cache.get(key, time);
  if (cached !== undefined) return cached;
  const value = await load();
  if (value !== undefined) cache.set(key, value, { now: time, usableUntil: time + cachedReadMs });
  return value;
}

/** Throws `Conflict` if an app with that name exists. */
export async function insertApp({ cipher, table }: Service, app: App, secretKey: string): Promise<void> {
  const Item = await buildAppItem(cipher, app, secretKey);
  await table.transact([
    { Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...buildKeyOwnerWrites(table.name, app.name, app),
  ]);
}

/**
 * Sets the members that `change` returns for the stored app, and returns the app with them. Calls `change` again if
 * another writer, of any release, has changed one of these members since. Throws `AppNotFound`, also for a deleted
 * app, and the errors of `change`.
 */
export async function updateApp(
  { table, cipher }: Service,
  name: string,
  change: (app: App) => AppChange | Promise<AppChange>,
): Promise<App> {
  const { app } = await changeItem(table, name, async (stored) => {
    const { members, secretKey } = await change(stored);
    const encrypted = secretKey && (await cipher.encrypt(secretKey, secretKeyContext(name)));
    return {
      app: { ...stored, ...members },
      fields: { ...members, ...(encrypted && { secretKey: encrypted }) },
      writes: buildKeyOwnerWrites(table.name, name, members, stored),
    };
  });
  return app;
}

interface WebhookChange {
  readonly settings?: Partial<WebhookSettings>;
  readonly createSecret: (hasSecret: boolean) => string | undefined;
  readonly overlapMs?: number;
}

/**
 * Changes the webhook settings, and the signing secret if `createSecret` returns one. The current secret stays valid
 * for `overlapMs`. Absent settings keep their stored values. Returns the new secret. Throws `AppNotFound`, also for a
 * deleted app.
 */
export async function storeWebhook(
  { table, cipher, now }: Service,
  name: string,
  { settings, createSecret, overlapMs = 0 }: WebhookChange,
): Promise<string | undefined> {
  const { secret } = await changeItem(table, name, async (app, { signingSecret }) => {
    const secret = createSecret(signingSecret !== undefined);
    const encrypted = secret && (await cipher.encrypt(secret, signingSecretContext(name)));
    const current = app.webhookSettings ?? { urls: [], sandboxUrls: [], includesPassword: false };
    const fields = {
      ...(settings && { webhookSettings: { ...current, ...settings } }),
      ...(encrypted && { signingSecret: encrypted }),
      ...(encrypted &&
        signingSecret !== undefined && { formerSecret: signingSecret, formerSecretUntil: now() + overlapMs }),
    };
    return { secret, fields };
  });
  return secret;
}

/** Returns the app with the decrypted secrets of its webhooks. */
export async function findWebhookSender(service: Service, name: string): Promise<WebhookSender | undefined> {
  const { table, cipher, now } = service;
  const item = await table.get(keys.appKey(name));
  if (!item) return undefined;
  const { secretKey, signingSecret, formerSecret, formerSecretUntil } = item;
  return {
    app: parse(App, item, 'DatabaseError'),
    secretKey: await cipher.decrypt(String(secretKey), secretKeyContext(name)),
    ...(typeof signingSecret === 'string' && {
      signingSecret: await cipher.decrypt(signingSecret, signingSecretContext(name)),
    }),
    ...(typeof formerSecret === 'string' &&
      Number(formerSecretUntil) > now() && {
        formerSecret: await cipher.decrypt(formerSecret, signingSecretContext(name)),
      }),
  };
}

/**
 * Returns the encrypted erasure key of the app. Creates it at the first call. Throws `Conflict` if the app does not
 * exist.
 */
export async function getOrCreateErasureKey({ cipher, table }: Service, name: string): Promise<string> {
  const erasureKey = await cipher.encrypt(randomBytes(32).toString('base64url'), erasureKeyContext(name));
  await tryUpdate(
    table,
    buildUpdate(
      keys.appKey(name),
      { erasureKey },
      { expression: 'attribute_exists(pk) AND attribute_not_exists(erasureKey)' },
    ),
  );
  const item = await table.get(keys.appKey(name));
  if (typeof item?.erasureKey === 'string') return item.erasureKey;
  throw new ServiceError('Conflict', `The app ${name} was deleted.`);
}

const KeyOwnerItem = v.object({ appName: v.string() });

/**
 * Builds the writes of the items that name the owner of each key. Writes the items of all keys of a changed level:
 * earlier releases did not write them.
 */
function buildKeyOwnerWrites(
  tableName: string,
  appName: string,
  changed: Partial<App>,
  stored?: App,
): readonly Write[] {
  return Object.values(keysMembers).flatMap((member) => {
    const digests = new Set(changed[member]?.map(({ digest }) => digest));
    const removed = changed[member] ? (stored?.[member] ?? []).filter(({ digest }) => !digests.has(digest)) : [];
    return [
      ...[...digests].map((digest) => ({
        Put: { TableName: tableName, Item: { ...keys.keyOwnerKey(digest), appName } },
      })),
      ...removed.map(({ digest }) => ({ Delete: { TableName: tableName, Key: { ...keys.keyOwnerKey(digest) } } })),
    ];
  });
}

export const secretKeyContext = (appName: string): string => `${appName}/secret-key`;
export const signingSecretContext = (appName: string): string => `${appName}/signing-secret`;
export const erasureKeyContext = (appName: string): string => `${appName}/erasure-key`;

/**
 * Sets the fields of an app's item that `change` returns. Reads the item again if one of them, or `deletedAt`, has
 * changed since it was read. The condition compares values instead of a version: an earlier release would not increment
 * it.
 */
async function changeItem<T extends { readonly fields: Item; readonly writes?: readonly Write[] }>(
  table: Table,
  name: string,
  change: (app: App, item: Item) => Promise<T>,
): Promise<T> {
  return await retryUntilWritten(async () => {
    const item = await table.get(keys.appKey(name));
    const app = requireApp(name, item && parse(App, item, 'DatabaseError'));
    const result = await change(app, item ?? {});
    if (Object.keys(result.fields).length === 0) return result;
    const isUnchanged = buildIsUnchanged(item ?? {}, Object.keys(result.fields));
    const update = buildUpdate(keys.appKey(name), result.fields, isUnchanged);
    // A transaction: its idempotency token lets the SDK repeat it after a lost response. A repeated update fails its
    // condition. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    const isWritten = await tryWrite(
      async () => await table.transact([{ Update: { TableName: table.name, ...update } }, ...(result.writes ?? [])]),
    );
    return isWritten ? result : undefined;
  });
}

/** Builds the condition that the stored item has the attributes that were read. */
function buildIsUnchanged(item: Item, fields: readonly string[]) {
  const attributes = [...new Set([...fields, 'deletedAt'])].map((name, index) => ({ name, key: `read${index}` }));
  const clauses = attributes.map(({ name, key }) =>
    item[name] === undefined ? `attribute_not_exists(#${key})` : `#${key} = :${key}`,
  );
  const read = attributes.filter(({ name }) => item[name] !== undefined);
  return {
    expression: ['attribute_exists(pk)', ...clauses].join(' AND '),
    names: Object.fromEntries(attributes.map(({ name, key }) => [`#${key}`, name])),
    values: Object.fromEntries(read.map(({ name, key }) => [`:${key}`, item[name]])),
  };
}

/** Builds the item. The encrypted secret key is for webhooks; credentials are checked with its digest in `App`. */
async function buildAppItem(cipher: Cipher, app: App, secretKey: string) {
  return {
    ...keys.appKey(app.name),
    ...keys.appIndexKeys(app.name),
    ...app,
    secretKey: await cipher.encrypt(secretKey, secretKeyContext(app.name)),
  };
}

/** Returns the app that was read, which can be deleted. Throws `AppNotFound`. */
export function requireStoredApp(name: string, app: App | undefined): App {
  if (!app) throw new ServiceError('AppNotFound', `The app ${name} is not found.`);
  return app;
}

/** Returns the app that was read. Throws `AppNotFound`, also for a deleted app. */
export function requireApp(name: string, app: App | undefined): App {
  const stored = requireStoredApp(name, app);
  if (stored.deletedAt !== undefined) throw new ServiceError('AppNotFound', `The app ${name} is deleted.`);
  return stored;
}
