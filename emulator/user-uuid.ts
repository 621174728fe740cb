import { createHash } from 'node:crypto';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns the account UUID that client plugins pass to a store: the username if it is a UUID, otherwise its MD5 in UUID
 * format.
 */
export function toUserUuid(applicationUsername: string): string {
  if (uuid.test(applicationUsername)) return applicationUsername.toLowerCase();
  const hex = createHash('md5').update(applicationUsername, 'utf8').digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `3${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)];
  return parts.join('-');
}
