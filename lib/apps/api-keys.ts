import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EpochMillis } from '../shared/time.ts';
import type { KeyDigest } from './app.ts';

/** Generates an API key: 256 random bits, prefixed with its level. */
export const generateApiKey = (level: 'public' | 'secret'): string =>
  `${level === 'public' ? 'pub' : 'sec'}_${randomBytes(32).toString('base64url')}`;

/** SHA-256 in hex. API keys are stored as digests only. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** A digest that matches no key. */
const dummyDigests: readonly KeyDigest[] = [{ digest: '0'.repeat(64) }];

/**
 * Whether the key matches a digest that has not expired. Compares all digests in constant time. An app without keys takes
 * the same time as an app with one.
 */
export function isValidApiKey(key: string, digests: readonly KeyDigest[], now: EpochMillis): boolean {
  const keyDigest = Buffer.from(hashApiKey(key), 'hex');
  let matches = false;
  for (const { digest, expiresAt } of digests.length > 0 ? digests : dummyDigests) {
    const equal = timingSafeEqual(keyDigest, Buffer.from(digest, 'hex'));
    matches = (equal && (expiresAt === undefined || expiresAt > now)) || matches;
  }
  return matches;
}
