import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { apiKeyPrefixes } from '../foundation/key-prefixes.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { type ApiKey, type ApiKeyLevel, type App, apiKeyLevels } from './app.ts';

/** A key as events name it. */
export interface VerifiedKey {
  readonly id: string;
  readonly name: string;
  readonly level: ApiKeyLevel;
}

const prefixes = apiKeyPrefixes satisfies Record<ApiKeyLevel, string>;

/** Generates an API key: 256 random bits, prefixed with its level. */
export const generateApiKey = (level: ApiKeyLevel): string =>
  `${prefixes[level]}_${randomBytes(32).toString('base64url')}`;

/** Matches an API key of this service. */
export const apiKeyPattern = new RegExp(`^(?:${Object.values(prefixes).join('|')})_[\\w-]{43}$`);

export const isKeyOfLevel = (key: string, level: ApiKeyLevel): boolean =>
  apiKeyPattern.test(key) && key.startsWith(`${prefixes[level]}_`);

/** SHA-256 in hex. API keys are stored as digests only. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Returns the id of a key: the beginning of its digest, of 12 hexadecimal characters. */
export const getKeyId = ({ digest }: Pick<ApiKey, 'digest'>): string => digest.slice(0, 12);

/** Name of the keys that `app create` and `app rotate-key` issue. */
export const mainKeyName = 'main';

/** Returns the keys of a level. */
export const getKeysOfLevel = (app: Pick<App, KeysMember>, level: ApiKeyLevel): readonly ApiKey[] =>
  app[keysMembers[level]];

type KeysMember = 'publicKeys' | 'secretKeys' | 'viewerKeys' | 'supportKeys';

/** The member of an app that contains the keys of a level. */
export const keysMembers = {
  public: 'publicKeys',
  secret: 'secretKeys',
  viewer: 'viewerKeys',
  support: 'supportKeys',
} as const satisfies Record<ApiKeyLevel, KeysMember>;

/** A digest that matches no key. */
const dummyKeys: readonly ApiKey[] = [{ digest: '0'.repeat(64), createdAt: 0 }];

/**
 * Finds the key of an app that matches and has not expired. Compares all digests in constant time. An unknown app takes
 * the same time as an app with one key of each level.
 */
export function findApiKey(key: string, app: App | undefined, now: EpochMillis): VerifiedKey | undefined {
  const keyDigest = Buffer.from(hashApiKey(key), 'hex');
  let verified: VerifiedKey | undefined;
  for (const level of apiKeyLevels) {
    const keys = app ? getKeysOfLevel(app, level) : [];
    for (const apiKey of keys.length > 0 ? keys : dummyKeys) {
      const equal = timingSafeEqual(keyDigest, Buffer.from(apiKey.digest, 'hex'));
      if (equal && (apiKey.expiresAt === undefined || apiKey.expiresAt > now))
        verified = { id: getKeyId(apiKey), name: apiKey.name ?? mainKeyName, level };
    }
  }
  return verified;
}
