import { createHash } from 'node:crypto';

/** Returns the first 128 bits of the SHA-256 digest of a text, in 32 hexadecimal digits. */
export const toShortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
