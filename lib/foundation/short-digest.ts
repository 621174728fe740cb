import { createHash } from 'node:crypto';

/** Returns the first hexadecimal digits of the SHA-256 digest of a text: 32 are 128 bits. */
export const toShortDigest = (text: string, digits: 24 | 32 = 32): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
