import { createHash } from 'node:crypto';

/** Returns the obfuscated account id that client plugins pass to the store: the MD5 of the username. */
export const toObfuscatedAccountId = (applicationUsername: string): string =>
  createHash('md5').update(applicationUsername, 'utf8').digest('hex');
