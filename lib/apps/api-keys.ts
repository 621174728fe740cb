import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EpochMillis } from '../shared/time.ts';
import type { KeyDigest } from './app.ts';

/** A new key: 256 random bits behind a prefix that tells what it is. */
export const generateApiKey = (level: 'public' | 'secret'): string =>
  `${level === 'public' ? 'pub' : 'sec'}_${randomBytes(32).toString('base64url')}`;

/** What is kept of a key. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The digest of no key. */
const dummyDigests: readonly KeyDigest[] = [{ digest: '0'.repeat(64) }];

/**
 * Whether the key is one of the live digests. Every digest is compared in constant time, and an application without
 * keys (or none at all) costs the same work.
 */
export function isValidApiKey(key: string, digests: readonly KeyDigest[], now: EpochMillis): boolean {
  const digestOfGivenKey = Buffer.from(hashApiKey(key), 'hex');
  let matches = false;
  for (const { digest, expiresAt } of digests.length > 0 ? digests : dummyDigests) {
    const equal = timingSafeEqual(digestOfGivenKey, Buffer.from(digest, 'hex'));
    matches = (equal && (expiresAt === undefined || expiresAt > now)) || matches;
  }
  return matches;
}
