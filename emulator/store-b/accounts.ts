import { createHash } from 'node:crypto';

/** What the client plugins hand to this store for a user: the MD5 of the name. */
export const toObfuscatedAccountId = (applicationUsername: string): string =>
  createHash('md5').update(applicationUsername, 'utf8').digest('hex');
