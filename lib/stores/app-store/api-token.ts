import { type CryptoKey, importPKCS8, SignJWT } from 'jose';
import { createBoundedMap, createCache } from '../../foundation/cache.ts';
import { hashParts } from '../../foundation/key.ts';
import { type EpochMillis, minuteMs, secondMs } from '../../foundation/time.ts';
import { invalidSettingsError } from './api-errors.ts';
import type { ApiKey } from './settings.ts';

/** Apple allows up to 60 minutes between issue and expiration. */
const ttlSeconds = 300;

/** Apple rejects a token of the future, which a clock that is ahead would issue. */
const clockToleranceSeconds = 60;
const algorithm = 'ES256';

/** A signed token is used again for this time, so that it stays valid for a minute at least. */
const usableMs = 4 * minuteMs;
const signedTokens = createCache<string>(300);

/**
 * Returns a bearer token for the App Store Server API. Throws `InternalError` if the private key is unusable.
 * @see https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
 */
export async function getApiToken(key: ApiKey, bundleId: string, now: EpochMillis): Promise<string> {
  const name = hashParts(key.issuerId, key.keyId, key.privateKey, bundleId);
  const signed = signedTokens.get(name, now);
  if (signed !== undefined) return signed;
  const token = await signToken(key, bundleId, now);
  signedTokens.set(name, token, { now, usableUntil: now + usableMs });
  return token;
}

async function signToken({ issuerId, keyId, privateKey }: ApiKey, bundleId: string, now: EpochMillis): Promise<string> {
  const nowSeconds = Math.floor(now / secondMs);
  return await new SignJWT({ bid: bundleId })
    .setProtectedHeader({ alg: algorithm, kid: keyId, typ: 'JWT' })
    .setIssuer(issuerId)
    .setIssuedAt(nowSeconds - clockToleranceSeconds)
    .setExpirationTime(nowSeconds + ttlSeconds)
    .setAudience('appstoreconnect-v1')
    .sign(await importPrivateKey(privateKey));
}

/** By digest, so that no text of a key stays in memory. */
const importedKeys = createBoundedMap<CryptoKey>(300);

/**
 * Imports the content of a .p8 file, each one once: that takes three times as long as a signature. Throws
 * `InternalError` if it is unusable.
 */
export async function importPrivateKey(pem: string): Promise<CryptoKey> {
  const digest = hashParts(pem);
  const imported = importedKeys.get(digest);
  if (imported) return imported;
  try {
    const key = await importPKCS8(pem, algorithm);
    importedKeys.set(digest, key);
    return key;
  } catch (cause) {
    throw invalidSettingsError('privateKey is not valid', cause);
  }
}
