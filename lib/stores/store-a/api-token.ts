import { createPrivateKey, sign } from 'node:crypto';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { ApiKey } from './settings.ts';

const ttlSeconds = 300;

/** The token that the App Store Server API wants. Throws `InternalError` for a key that cannot sign. */
export function createApiToken({ issuerId, keyId, privateKey }: ApiKey, bundleId: string, now: EpochMillis): string {
  const issuedAt = Math.floor(now / 1000);
  const header = { alg: 'ES256', kid: keyId, typ: 'JWT' };
  const claims = {
    iss: issuerId,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
    aud: 'appstoreconnect-v1',
    bid: bundleId,
  };
  const content = `${encodePart(header)}.${encodePart(claims)}`;
  return `${content}.${createSignature(content, privateKey)}`;
}

function createSignature(content: string, privateKey: string): string {
  try {
    const key = createPrivateKey(privateKey);
    return sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  } catch (cause) {
    throw new ServiceError('InternalError', 'The private key in the store_a settings cannot be used.', { cause });
  }
}

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
