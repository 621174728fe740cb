import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { markEmptyTable } from '../foundation/table-version.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { AppExchangeRates } from '../money/rates.ts';
import {
  type ApiKey,
  type ApiKeyLevel,
  ApiKeyName,
  type App,
  AppName,
  AppSettings,
  apiKeyLevels,
  CommissionRates,
  generateApiKey,
  getKeyId,
  getKeysOfLevel,
  hashApiKey,
  isKeyOfLevel,
  keysMembers,
  mainKeyName,
} from './app.ts';
import { findApp, findWebhookSender, insertApp, requireApp, requireStoredApp, updateApp } from './app-table.ts';
import { Catalogue } from './catalogue.ts';
import { storeCatalogue } from './catalogue-table.ts';

/** New API keys of an app in plain text, shown once. */
export interface IssuedApiKeys {
  readonly appName: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** Creates an app with new API keys. Throws `InvalidPayload` for an invalid name and `Conflict` for an existing app. */
export async function createApp(service: Service, name: string, now: EpochMillis): Promise<IssuedApiKeys> {
  const { name: appName } = parse(v.object({ name: AppName }), { name });
  if (await findApp(service, appName)) throw new ServiceError('Conflict', `The app ${appName} already exists.`);
  await markEmptyTable(service.table);
  const publicKey = generateApiKey('public');
  const secretKey = generateApiKey('secret');
  await insertApp(
    service,
    {
      name: appName,
      publicKeys: [{ digest: hashApiKey(publicKey), createdAt: now }],
      secretKeys: [{ digest: hashApiKey(secretKey), createdAt: now }],
      viewerKeys: [],
      supportKeys: [],
      strategy: 'all',
      vocabulary: 'neutral',
      createdAt: now,
    },
    secretKey,
  );
  return { appName, publicKey, secretKey };
}

/**
 * Issues a new main key. The current main key expires after `overlapMs`; older main keys expire immediately. Named keys
 * stay.
 */
export async function rotateApiKey(
  service: Service,
  name: string,
  { level, overlapMs, now }: { level: 'public' | 'secret'; overlapMs: number; now: EpochMillis },
): Promise<string> {
  const key = generateApiKey(level);
  await updateApp(service, name, (app) => {
    const keys = getKeysOfLevel(app, level);
    const currentKeys = keys.filter(({ name: keyName, expiresAt }) => keyName === undefined && expiresAt === undefined);
    const expiringKeys = currentKeys.map((current) => ({ ...current, expiresAt: now + overlapMs }));
    const namedKeys = keys.filter(({ name: keyName }) => keyName !== undefined);
    const newKey = { digest: hashApiKey(key), createdAt: now };
    return {
      members: { [keysMembers[level]]: [newKey, ...expiringKeys, ...namedKeys] },
      ...(level === 'secret' && { secretKey: key }),
    };
  });
  return key;
}

/** An API key in lists. The key itself is not stored. */
export interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly level: ApiKeyLevel;
  readonly createdAt?: EpochMillis;
  readonly expiresAt?: EpochMillis;
}

/** A new key in plain text, shown once. */
export interface CreatedKey extends ListedKey {
  readonly key: string;
}

/** Maximum number of keys of a level: each request compares all of them. */
const maxKeysOfLevel = 20;

interface KeyRequest {
  readonly level: ApiKeyLevel;
  readonly name: string;
  /** The key stays valid without it. */
  readonly validMs?: number;
  /** A key of the app at another deployment, which clients already contain. Default: a new one. */
  readonly key?: string | undefined;
  readonly now: EpochMillis;
}

/**
 * Creates a named key. Throws `InvalidPayload` for an invalid name and `Conflict` for a name that has a key, or too
 * many keys.
 */
export async function createApiKey(
  service: Service,
  appName: string,
  { level, validMs, now, key = generateApiKey(level), ...request }: KeyRequest,
): Promise<CreatedKey> {
  const { name } = parse(v.object({ name: ApiKeyName }), { name: request.name });
  if (!isKeyOfLevel(key, level)) throw new ServiceError('InvalidPayload', `The existing key is not a ${level} key.`);
  const apiKey = {
    digest: hashApiKey(key),
    name,
    createdAt: now,
    ...(validMs !== undefined && { expiresAt: now + validMs }),
  };
  await updateApp(service, appName, (app) => {
    const validKeys = getKeysOfLevel(app, level).filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now);
    if (name === mainKeyName || validKeys.some((other) => other.name === name))
      throw new ServiceError('Conflict', `The app ${appName} already has a ${level} key with the name ${name}.`);
    if (validKeys.length >= maxKeysOfLevel)
      throw new ServiceError('Conflict', `An app has at most ${maxKeysOfLevel} keys of a level. Revoke one first.`);
    return { members: { [keysMembers[level]]: [...validKeys, apiKey] } };
  });
  return { key, ...toListedKey(apiKey, level) };
}

/** Lists the keys of the app, expired keys included. */
export const listApiKeys = async (service: Service, appName: string): Promise<ListedKey[]> =>
  listKeys(await getApp(service, appName));

/** Lists the keys of an app item. */
export const listKeys = (app: App): ListedKey[] =>
  apiKeyLevels.flatMap((level) => getKeysOfLevel(app, level).map((apiKey) => toListedKey(apiKey, level)));

/**
 * Revokes a key. Throws `ResourceNotFound` for an unknown id, and `Conflict` for the secret key that webhooks contain
 * as their password: it must be rotated.
 */
export async function revokeApiKey(service: Service, appName: string, id: string): Promise<ListedKey> {
  const revoked = requireKey(await getApp(service, appName), id);
  await updateApp(service, appName, async (app) => {
    const { level } = requireKey(app, id);
    const sender = level === 'secret' ? await findWebhookSender(service, appName) : undefined;
    if (sender && getKeyId({ digest: hashApiKey(sender.secretKey) }) === id)
      throw new ServiceError('Conflict', 'Webhooks contain this key. Run `app rotate-key` instead.');
    const keys = getKeysOfLevel(app, level).filter((apiKey) => getKeyId(apiKey) !== id);
    return { members: { [keysMembers[level]]: keys } };
  });
  return revoked;
}

function requireKey(app: App, id: string): ListedKey {
  const key = listKeys(app).find((listed) => listed.id === id);
  if (!key) throw new ServiceError('ResourceNotFound', `The app ${app.name} has no key with the id ${id}.`);
  return key;
}

const toListedKey = (apiKey: ApiKey, level: ApiKeyLevel): ListedKey => ({
  id: getKeyId(apiKey),
  name: apiKey.name ?? mainKeyName,
  level,
  ...omitUndefined({ createdAt: apiKey.createdAt, expiresAt: apiKey.expiresAt }),
});

/**
 * Changes settings of an app. Existing purchases change at their next update. Throws `InvalidPayload` for an invalid
 * value. The caller has checked an `alertUrl`.
 */
export async function changeSettings(service: Service, name: string, settings: AppSettings): Promise<App> {
  const members = omitUndefined(parse(AppSettings, settings));
  return await updateApp(service, name, () => ({ members }));
}

/**
 * Sets the rates of commission and tax for the proceeds of payments that are recorded from now on. Throws
 * `InvalidPayload` for invalid rates.
 */
export async function setCommissionRates(service: Service, name: string, rates: unknown): Promise<CommissionRates> {
  const commissionRates = parse(CommissionRates, rates);
  await updateApp(service, name, () => ({ members: { commissionRates } }));
  return commissionRates;
}

/** Sets the exchange rates of currencies without a reference rate. Throws `InvalidPayload` for invalid rates. */
export async function setExchangeRates(service: Service, name: string, rates: unknown): Promise<AppExchangeRates> {
  const exchangeRates = parse(AppExchangeRates, rates);
  await updateApp(service, name, () => ({ members: { exchangeRates } }));
  return exchangeRates;
}

/**
 * Replaces the catalogue of the app. Throws `InvalidPayload` for an invalid catalogue, and `Conflict` (412) if the
 * current catalogue does not have the expected tag.
 */
export async function saveCatalogue(
  service: Service,
  name: string,
  catalogue: unknown,
  expectedTag?: string,
): Promise<Catalogue> {
  const parsed = parse(Catalogue, catalogue);
  const app = await getApp(service, name);
  if (await storeCatalogue(service, app.name, parsed, expectedTag)) return parsed;
  throw new ServiceError('Conflict', 'The catalogue was changed since it was read. Read it again.', {
    status: 412,
    retryable: false,
  });
}

/**
 * Marks the app as deleted. Its keys and its notification URLs become invalid within 15 seconds, and its refreshes and
 * webhooks end. Its purchases and settings stay in the table, so its name cannot be used again. Throws `AppNotFound`.
 */
export async function deleteApp(service: Service, name: string, now: EpochMillis): Promise<App> {
  return await updateApp(service, name, () => ({ members: { deletedAt: now } }));
}

/** Returns the app. Throws `AppNotFound`, also for a deleted app. */
export const getApp = async (service: Service, name: string): Promise<App> =>
  requireApp(name, await findApp(service, name));

/** Returns the app, which can be deleted. Throws `AppNotFound`. */
export const getStoredApp = async (service: Service, name: string): Promise<App> =>
  requireStoredApp(name, await findApp(service, name));
