import { type CryptoKey, importPKCS8, SignJWT } from 'jose';
import type { EpochMillis } from '../../shared/time.ts';
import { invalidSettingsError } from './api-errors.ts';
import type { ApiKey } from './settings.ts';

/** Apple allows up to 60 minutes. */
const ttlSeconds = 300;
const algorithm = 'ES256';

/**
 * Creates a bearer token for the App Store Server API. Throws `InternalError` if the private key is unusable.
 * @see https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
 */
export async function createApiToken(
  { issuerId, keyId, privateKey }: ApiKey,
  bundleId: string,
  now: EpochMillis,
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  return await new SignJWT({ bid: bundleId })
    .setProtectedHeader({ alg: algorithm, kid: keyId, typ: 'JWT' })
    .setIssuer(issuerId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .setAudience('appstoreconnect-v1')
    .sign(await importPrivateKey(privateKey));
}

/** Imports the content of a .p8 file. Throws `InternalError` if it is unusable. */
export async function importPrivateKey(pem: string): Promise<CryptoKey> {
  try {
    return await importPKCS8(pem, algorithm);
  } catch (cause) {
    throw invalidSettingsError('privateKey is not valid', cause);
  }
}
